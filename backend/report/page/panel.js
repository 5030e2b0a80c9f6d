/* What is selected: a panel at the bottom of the window that stays until Esc. */
class Panel {
  constructor(model, follow) {
    this.model = model;
    this.follow = follow;
    this.waiting = followers(model.data);
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
    const engine = this.model.data.queues[which], needed = engine.needed[index];
    const [behind, at] = this.model.behind[which].get(index) ?? [];
    const before = index ? this.link(which, index - 1) : "nothing: the first of its engine";
    const first = element("dd", {}, before);
    list.append(element("dt", { text: "behind" }), first);
    const awaited = this.model.awaits[which].get(index) ?? [];
    const waits = [...(needed < 0 ? [] : [[engine.other, needed, ""]]),
      ...awaited.map(([queue, one]) => [queue, one, "message behind "])];
    if (waits.length) {
      const lines = waits.map(([queue, one, words]) => element("div", {}, words,
        this.link(queue, one), queue === behind && one === at
          ? " · until then it could not start" : ""));
      list.append(element("dt", { text: "waits for" }), element("dd", {}, ...lines));
    }
    const users = this.waiting[which].get(index) ?? [];
    if (users.length) {
      const line = element("dd");
      users.slice(0, 3).forEach((user) => line.append(element("div", {}, this.link(...user))));
      if (users.length > 3) line.append(`and ${users.length - 3} more`);
      list.append(element("dt", { text: "waited for by" }), line);
    }
    if (this.model.critical[which].has(index)) {
      list.append(element("dt", { text: "critical path" }),
        element("dd", { text: "yes: the run is as long as the chain this is in" }));
    }
  }

  link(which, index) {
    const engine = this.model.data.queues[which], layer = this.model.layers[engine.layer[index]];
    const text = `${coreName(this.model, which, ": ")}` +
      `${this.model.data.instructions[engine.instruction[index]]} of ${layer.name} at ` +
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

/* By queue, for every command those that wait for it: of the other engine, of other cores. */
function followers(data) {
  const found = perQueue(data, () => new Map());
  const add = (which, index, user) => {
    if (!found[which].has(index)) found[which].set(index, []);
    found[which].get(index).push(user);
  };
  for (const [which, queue] of Object.entries(data.queues)) {
    queue.needed.forEach((needed, i) => {
      if (needed >= 0) add(queue.other, needed, [which, i]);
    });
    for (const [i, places] of queue.awaits) for (const place of places) add(...place, [which, i]);
  }
  return found;
}
