// Who plays by keyboard goes on where the game goes on, when what had the focus is no longer there.
document.addEventListener("htmx:afterSettle", () => {
  const here = document.activeElement;
  if (!here || here === document.body) {
    const now = document.getElementById("now");
    if (now) now.focus({ preventScroll: true });
  }
});
