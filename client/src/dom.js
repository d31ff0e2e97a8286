// Making elements.

/** An element with properties, and what is inside it. */
export function element(tag, properties = {}, ...inside) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...inside);
  return made;
}

/** A labelled box to tick. */
export function tick(text, isOn, act, title = "") {
  const box = element("input", { type: "checkbox", checked: isOn });
  box.addEventListener("change", () => act(box.checked));
  return element("label", { className: "tick", title }, box, text);
}

/** A labelled choice; options are values, or pairs of value and text. */
export function choice(text, options, value, act) {
  const list = element("select", { ariaLabel: text });
  for (const option of options) {
    const [key, name] = Array.isArray(option) ? option : [option, option];
    list.append(element("option", { value: key, textContent: name }));
  }
  list.value = value;
  list.addEventListener("change", () => act(list.value));
  return element("label", { className: "choice" }, text, list);
}
