import { type Html, html } from '../../web/html.ts'
import type { PageRequest, Section } from './page.ts'

/** The groups of the navigation, with the sections in each. */
export type Navigation = readonly (readonly [group: string, sections: Readonly<Record<string, Section>>])[]

/** A line of the navigation: as it stands on other pages, and as on its own. */
interface Line {
  readonly path: string
  readonly elsewhere: Html
  readonly here: Html
}

/** A group of the navigation; the first one has no heading. */
interface Group {
  readonly heading: string
  readonly lines: readonly Line[]
}

/** The navigation of each role, by the way to the root. */
const groupsOf = new WeakMap<PageRequest['actor']['scopes'], Map<string, readonly Group[]>>()

export function navigationOf(navigation: Navigation, request: PageRequest): Html {
  const { actor, path, to } = request
  const ofRole = groupsOf.get(actor.scopes) ?? new Map<string, readonly Group[]>()
  groupsOf.set(actor.scopes, ofRole)
  const groups = ofRole.get(to('')) ?? groupsFor(navigation, request)
  ofRole.set(to(''), groups)
  const section = path.split('/', 2).join('/')
  return html`<details class="navigation"><summary>Menu</summary>
<nav aria-label="Sections">${groups.map(
    ({ heading, lines }) =>
      html`${heading !== '' && html`<h2>${heading}</h2>`}<ul>${lines.map(line => (line.path === section ? line.here : line.elsewhere))}</ul>`,
  )}</nav></details>`
}

function groupsFor(navigation: Navigation, { may, to }: PageRequest): Group[] {
  const line = (path: string, title: string): Line => ({
    path,
    elsewhere: html`<li><a href="${to(path)}">${title}</a></li>`,
    here: html`<li><a href="${to(path)}" aria-current="page">${title}</a></li>`,
  })
  const groups = navigation.map(([heading, sections]) => {
    const seen = Object.entries(sections).filter(([, { needs }]) => !needs || may(needs))
    return { heading, lines: seen.map(([name, { title }]) => line(`console/${name}`, title)) }
  })
  return [
    { heading: '', lines: [line('console', 'Home')] },
    ...groups.filter(({ lines }) => lines.length > 0),
  ]
}
