/* What is selected: a panel at the bottom of the window that stays until Esc. */
class Panel {
  constructor(model, follow) {
    this.model = model;
    this.follow = follow;
    this.waiting = { tiu: followers(model.data, "tiu"), gdma: followers(model.data, "gdma") };
    byId("panel-close").addEventListener("click", () => follow(null));
    byId("panel-copy").addEventListener("click", () => this.copy());
  }

  show(found) {
    const panel = byId("details");
    panel.hidden = !found;
    document.body.classList.toggle("panel-open", Boolean(found));
    if (!found) return;
    byId("details-title").textContent = found.title;
    const list = definitions(found.pairs);
    if (found.which) this.addWaits(list, found.which, found.index);
    byId("details-body").replaceChildren(list);
    byId("panel-copy").textContent = "copy";
    // The page may be scrolled so far that its end is not under the panel.
    document.body.style.setProperty("--panel-height", `${panel.offsetHeight}px`);
  }

  addWaits(list, which, index) {
    const engine = this.model.data[which], other = which === "tiu" ? "gdma" : "tiu";
    const needed = engine.needed[index];
    const before = index ? this.link(which, index - 1) : "nothing: the first of its engine";
    const first = element("dd", {}, before);
    list.append(element("dt", { text: "behind" }), first);
    if (needed >= 0) {
      const why = this.model.held[which].has(index) ? " · until then it could not start" : "";
      list.append(element("dt", { text: "waits for" }),
        element("dd", {}, this.link(other, needed), why));
    }
    const users = this.waiting[which].get(index) ?? [];
    if (users.length) {
      const line = element("dd");
      users.slice(0, 3).forEach((user) => line.append(element("div", {}, this.link(other, user))));
      if (users.length > 3) line.append(`and ${users.length - 3} more`);
      list.append(element("dt", { text: "waited for by" }), line);
    }
    if (this.model.critical[which].has(index)) {
      list.append(element("dt", { text: "critical path" }),
        element("dd", { text: "yes: the run is as long as the chain this is in" }));
    }
  }

  link(which, index) {
    const engine = this.model.data[which], layer = this.model.layers[engine.layer[index]];
    const text = `${this.model.data.instructions[engine.instruction[index]]} of ${layer.name} at ` +
      count(engine.start[index]);
    const button = element("button", { class: "link", text });
    button.type = "button";
    button.addEventListener("click", () => this.follow({ which, index }));
    return button;
  }

  async copy() {
    const lines = [byId("details-title").textContent];
    const parts = [...byId("details-body").querySelectorAll("dt, dd")];
    for (let i = 0; i + 1 < parts.length; i += 2) {
      lines.push(`${parts[i].textContent}: ${parts[i + 1].textContent}`);
    }
    const text = `${lines.join("\n")}\n`;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyOldWay(text);
    }
    byId("panel-copy").textContent = "copied";
  }
}

/* Where a page may not use the clipboard by itself, the browser still copies what is marked. */
function copyOldWay(text) {
  const field = element("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

/* For every command, those of the other engine that wait for it. */
function followers(data, which) {
  const other = data[which === "tiu" ? "gdma" : "tiu"], found = new Map();
  other.needed.forEach((needed, i) => {
    if (needed < 0) return;
    if (!found.has(needed)) found.set(needed, []);
    found.get(needed).push(i);
  });
  return found;
}
