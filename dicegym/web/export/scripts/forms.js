// Forms of a game's controls as elements: what templates/play/widgets.html makes of them where there is a server.
"use strict";
var dicegym = globalThis.dicegym || (globalThis.dicegym = {});

(function (dicegym) {
  const SVG = "http://www.w3.org/2000/svg";

  // An element with attributes (false and null: none) and children, of which texts stay texts.
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== ""));
    return made;
  };

  const die = (face, side, title) => {
    const svg = document.createElementNS(SVG, "svg");
    const use = document.createElementNS(SVG, "use");
    use.setAttribute("href", `#d${face}`);
    svg.append(use);
    const given = { class: "die-face", width: side, height: side, focusable: "false" };
    Object.assign(given, title ? { role: "img", "aria-label": title } : { "aria-hidden": "true" });
    for (const [key, value] of Object.entries(given)) svg.setAttribute(key, value);
    return svg;
  };

  const kindOf = (widget) =>
    widget.options ? "options" : widget.faces ? "dice" : widget.items && widget.budget !== undefined ? "basket" : "number";

  const saidOf = (option) => [
    option.face ? die(option.face, 36) : null,
    element(
      "span",
      { class: "option-words" },
      element("span", { class: "option-label" }, option.label),
      option.refused || option.note ? element("small", {}, option.refused || option.note) : null,
    ),
  ];

  const fieldset = (kind, legend, attributes, ...children) =>
    element("fieldset", { class: kind, ...attributes }, element("legend", { tabindex: "-1" }, legend), ...children);

  const buttons = (form, widget) =>
    fieldset("choices", form.send, {}, element("div", { class: "choice-grid" }, widget.options.map((option) =>
      element("button", {
        id: `${form.name}-${widget.name}-${option.value}`, name: widget.name, value: option.value,
        "data-key": option.value, disabled: Boolean(option.refused),
      }, saidOf(option)))));

  const radios = (form, widget) =>
    fieldset("choices", widget.label, {}, element("div", { class: "choice-grid" }, widget.options.map((option) =>
      element("label", { class: "choice" }, element("input", {
        type: "radio", id: `${form.name}-${widget.name}-${option.value}`, name: widget.name, value: option.value,
        "data-key": option.value, required: true, "data-least": option.least || null,
        disabled: Boolean(option.refused), checked: !option.refused && option.value === widget.chosen,
      }), saidOf(option)))));

  const dice = (form, widget) =>
    fieldset("dice-toggles", widget.label, { "data-most": widget.most }, element("div", { class: "dice-row" },
      [...widget.faces].map((face, place) => element("label", { class: "die-toggle" },
        element("input", {
          type: "checkbox", id: `${form.name}-${widget.name}-${place}`, name: widget.name, value: place,
          "data-die": place + 1, "aria-label": `Die ${place + 1} shows ${face}: ${widget.on}`,
          checked: [...(widget.picked ?? [])].includes(place),
        }),
        die(face, 56),
        element("span", { class: "when-on", "aria-hidden": "true" }, widget.on),
        element("span", { class: "when-off", "aria-hidden": "true" }, widget.off)))));

  const number = (id, name, label, low, high, value, more) => {
    const step = (by, sign, words) => element("button", {
      type: "button", "data-step": by, "data-for": id, tabindex: "-1", "aria-label": `${label}: one ${words}`,
    }, sign);
    return element("span", { class: "stepper" }, step(-1, "\u2212", "less"),
      element("input", { type: "number", inputmode: "numeric", id, name, min: low, max: high, value, required: true, ...more }),
      step(1, "+", "more"));
  };

  const stepper = (form, widget) => {
    const id = `${form.name}-${widget.name}`;
    return element("div", { class: "step-field" },
      element("label", { for: id }, widget.label, element("small", { class: "soft" }, ` ${widget.low} to ${widget.high}`)),
      number(id, widget.name, widget.label, widget.low, widget.high, widget.value, { "data-low": widget.low }));
  };

  const send = (form) =>
    element("button", {
      class: "main", id: `${form.name}-send`, "aria-describedby": form.note ? `${form.name}-note` : null,
    }, form.send);

  const basket = (form, widget) => {
    const items = [...widget.items];
    const open = items.filter((item) => item.most && item.price <= widget.budget);
    const rest = items.filter((item) => !open.includes(item));
    const row = (item) => {
      const id = `${form.name}-${widget.name}-${item.value}`;
      const most = item.price ? Math.min(item.most, Math.floor(widget.budget / item.price)) : item.most;
      return element("li", { class: "basket-item" },
        item.face ? die(item.face, 32) : null,
        element("label", { for: id }, element("b", {}, item.label), element("small", {}, item.note)),
        element("span", { class: "basket-price", id: `${id}-price` }, `${item.price} ${widget.unit}`, element("small", { class: "soft" }, `${item.most} left`)),
        number(id, `${widget.name}.${item.value}`, item.label, 0, most, 0, { "data-price": item.price, "aria-describedby": `${id}-price` }));
    };
    const missed = (item) => element("li", {}, element("b", {}, item.label), ` ${item.note}: `,
      item.most ? `costs ${item.price} ${widget.unit}, and ${item.most} ${item.most === 1 ? "is" : "are"} left` : "none left");
    return fieldset("basket", widget.label, { "data-budget": widget.budget, "data-unit": widget.unit },
      element("ul", { class: "basket-items" }, open.map(row)),
      rest.length ? element("details", { id: `${form.name}-${widget.name}-rest` },
        element("summary", {}, `${rest.length} that you cannot have now`), element("ul", { class: "basket-rest" }, rest.map(missed))) : null,
      element("p", { class: "basket-sum" }, send(form),
        element("output", { "aria-live": "polite" }, `You have ${widget.budget} ${widget.unit} to spend.`),
        element("button", { type: "button", "data-again": form.name, hidden: true }, "As last time"),
        element("button", { type: "reset" }, "Empty it")));
  };

  const KINDS = { options: radios, dice, basket, number: stepper };

  // A form as an element; what it sends is for others to listen to.
  const form = (given) => {
    const widgets = [...given.widgets];
    const made = element("form", { class: "play-form", id: `form-${given.name}`, "data-form": given.name });
    const note = given.note ? element("span", { class: "play-note soft", id: `${given.name}-note` }, given.note) : null;
    if (widgets.length === 1 && widgets[0].options) {
      made.append(buttons(given, widgets[0]));
      if (note) made.append(element("p", {}, note));
      return made;
    }
    for (const widget of widgets) made.append(KINDS[kindOf(widget)](given, widget));
    const inside = widgets.length > 0 && kindOf(widgets[widgets.length - 1]) === "basket"; // beside what it costs
    made.append(element("p", { class: "play-send" }, inside ? null : send(given), note));
    return made;
  };

  dicegym.page = { element, die, form };
})(dicegym);
