import { type Html, html } from '../html.ts'

/** The links between pages that belong together, with the names of `names` by path. */
export function tabs<Path extends string>(
  label: string,
  names: Readonly<Record<Path, string>>,
  here: Path,
  hrefOf: (path: Path) => string = path => path,
): Html {
  const paths = Object.keys(names) as Path[]
  return html`<nav aria-label="${label}"><ul class="tabs">${paths.map(
    path =>
      html`<li><a href="${hrefOf(path)}"${path === here ? html` aria-current="page"` : null}>${names[path]}</a></li>`,
  )}</ul></nav>`
}
