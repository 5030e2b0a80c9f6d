/* A table whose columns sort on a click. A column: title, value, optionally text, kind, title. */
class SortedTable {
  constructor(table, columns, rows, onClick) {
    Object.assign(this, { table, columns, rows, onClick });
    this.sorted = -1;
    this.down = true;
    this.body = element("tbody");
    const head = element("tr");
    this.heads = columns.map((column, i) => {
      const button = element("button", { text: column.title, title: column.words });
      button.type = "button";
      button.addEventListener("click", () => this.sort(i));
      const cell = element("th", { class: column.kind ?? "" }, button);
      head.append(cell);
      return cell;
    });
    this.lines = rows.map((row) => this.line(row));
    this.body.append(...this.lines);
    table.replaceChildren(element("thead", {}, head), this.body);
  }

  line(row) {
    const line = element("tr");
    line.tabIndex = 0;
    for (const column of this.columns) {
      const text = column.text ? column.text(row) : String(column.value(row) ?? "");
      const cell = element("td", { class: column.kind ?? "", text });
      if (column.paint) column.paint(cell, row);
      line.append(cell);
    }
    line.addEventListener("click", () => this.onClick(row));
    line.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.onClick(row);
    });
    return line;
  }

  /* By a column: numbers from the largest first, words from A; the other way round the next time. */
  sort(index) {
    const column = this.columns[index];
    this.down = this.sorted === index ? !this.down : column.kind === "number";
    this.sorted = index;
    const order = this.rows.map((row, i) => [column.value(row), i]);
    order.sort(([a, i], [b, j]) => {
      const by = typeof a === "string" ? a.localeCompare(b) : (a ?? -Infinity) - (b ?? -Infinity);
      return (this.down ? -by : by) || i - j;
    });
    this.body.replaceChildren(...order.map(([, i]) => this.lines[i]));
    this.heads.forEach((head, i) => {
      if (i === index) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  filter(wanted) {
    let shown = 0;
    this.lines.forEach((line, i) => {
      line.hidden = !wanted(this.rows[i]);
      shown += !line.hidden;
    });
    return shown;
  }

  /* Within its box the line comes into sight; the window stays where it is. */
  choose(index) {
    this.lines.forEach((line, i) => line.classList.toggle("chosen", i === index));
    const line = this.lines[index], box = this.table.parentElement;
    if (!line || line.hidden) return;
    const top = line.offsetTop - this.heads[0].offsetHeight, bottom = line.offsetTop + line.offsetHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }
}

/* A shadow at the side to which a wide table goes on, and words that say so. */
function showThatItScrolls(box) {
  const words = element("p", { class: "hint more", text: "more columns to the right: scroll →" });
  box.after(words);
  const look = () => {
    const right = box.scrollWidth - box.clientWidth - box.scrollLeft > 1;
    box.classList.toggle("more-right", right);
    box.classList.toggle("more-left", box.scrollLeft > 1);
    words.hidden = !right;
  };
  box.addEventListener("scroll", look);
  new ResizeObserver(look).observe(box);
  look();
}
