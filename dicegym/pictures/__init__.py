"""Pictures of games as SVG, drawn once for pages, notebooks, the site, films and `render_mode="rgb_array"`."""
