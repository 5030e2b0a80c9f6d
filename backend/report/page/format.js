/* Numbers and elements. */
const count = (value) => Math.round(value).toLocaleString("en-US");
const percent = (value) => `${(100 * value).toFixed(1)}%`;

function bytes(value) {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} GB`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} MB`;
  if (value >= 1e3) return `${(value / 1e3).toFixed(1)} kB`;
  return `${value} B`;
}

function short(value) {
  const units = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, unit] of units) {
    if (Math.abs(value) >= size) return `${(value / size).toPrecision(3)} ${unit}`;
  }
  return String(Number(value.toPrecision(3)));
}

/* An element with classes, text or children; text is never taken for markup. */
function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  if (options.class) made.className = options.class;
  if (options.text !== undefined) made.textContent = options.text;
  if (options.title) made.title = options.title;
  Object.assign(made.style, options.style ?? {});
  made.append(...children);
  return made;
}

function definitions(pairs) {
  const list = element("dl");
  for (const [term, value] of pairs) {
    if (value === undefined || value === "") continue;
    list.append(element("dt", { text: term }));
    list.append(value instanceof Node ? element("dd", {}, value) : element("dd", { text: value }));
  }
  return list;
}

const byId = (name) => document.getElementById(name);
