import { utcDay } from '../../values/clock.ts'
import { type Html, html } from '../../web/html.ts'
import { roleOf } from '../console-pages/index.ts'
import type { ConsoleSection, PageRequest } from './page.ts'
import { renderIcon } from './parts/icons.ts'
import { pathParametersOf } from './parts/schema.ts'
import { renderText } from './parts/text.ts'
import {
  accountPlace,
  type ConsolePlace,
  type ConsoleTab,
  consolePlaces,
  HOME,
  placeOfSection,
} from './sections.ts'

const isSeen = ({ needs, mode }: ConsoleSection, { may, tenant }: PageRequest): boolean =>
  (needs === undefined || may(needs)) && (mode === undefined || mode === tenant.mode)

const tabsFor = ({ tabs }: ConsolePlace, request: PageRequest): readonly ConsoleTab[] =>
  tabs.filter(({ section }) => isSeen(section, request))

const addressOf = ({ name, filter }: ConsoleTab): string =>
  `console/${name}${filter ? `?${new URLSearchParams(filter)}` : ''}`

const placeOf = ({ path, section }: PageRequest): ConsolePlace | undefined =>
  path === 'console' ? HOME : placeOfSection(section.name)

/** On a phone, the first places are in a bar at the bottom, and the others behind *More*. */
const IN_BOTTOM_BAR = 4

export function renderPlaces(request: PageRequest, waiting: Html | undefined): Html {
  const here = placeOf(request)
  const seen = consolePlaces.flatMap(place => {
    const first = tabsFor(place, request)[0]
    if (!first && place !== HOME) return []
    const to = request.to(first ? addressOf(first) : 'console')
    return [placeItem(place, to, place === here, place.hasBadge ? waiting : undefined)]
  })
  return html`<nav class="places" aria-label="Places">
<ul>${seen.slice(0, IN_BOTTOM_BAR)}</ul>
<button type="button" class="plain" popovertarget="more-places">${renderIcon('more')}<span>More</span></button>
<ul id="more-places" popover>${seen.slice(IN_BOTTOM_BAR)}</ul>
<button type="button" class="plain" data-action="fold-places" aria-expanded="true">${renderIcon('bar')}<span>Collapse</span></button>
</nav>`
}

const placeItem = (
  { title, icon = 'more' }: ConsolePlace,
  to: string,
  isHere: boolean,
  badge: Html | undefined,
): Html =>
  html`<li><a href="${to}"${isHere && html` aria-current="true"`}>${renderIcon(icon)}<span>${title}</span>${badge}</a></li>`

/** The pages of the place. A tab with a filter is current where the address has that filter. */
export function renderTabs(request: PageRequest): Html {
  const place = placeOf(request)
  const tabs = place ? tabsFor(place, request) : []
  if (!place || tabs.length < 2) return html``
  const links = place.links ?? []
  const current = currentOf(tabs, request)
  const along = place.keepsSpan ? reportSpanAlong(request) : ''
  return html`<nav class="tabs" aria-label="${place.title}"><ul>${tabs.map(
    tab =>
      html`<li><a href="${request.to(addressOf(tab))}${along}"${tab === current && html` aria-current="page"`}>${tab.label}</a></li>`,
  )}${links.map(({ label, address }) => html`<li><a href="${request.to(address)}">${label}</a></li>`)}</ul></nav>`
}

/** Reports keep their span, agent and grouping from one to the next. A span in the future is that of a forecast. */
function reportSpanAlong({ query, now }: PageRequest): string {
  const isPast = (query.to ?? '') <= utcDay(now)
  const set = new URLSearchParams()
  for (const name of ['agentId', 'groupBy', ...(isPast ? ['from', 'to'] : [])]) {
    const value = query[name]
    if (value) set.set(name, value)
  }
  return set.size > 0 ? `?${set}` : ''
}

function currentOf(tabs: readonly ConsoleTab[], { section, query, id }: PageRequest): ConsoleTab | undefined {
  const ofSection = tabs.filter(({ name }) => name === section.name)
  const filtered = ofSection.find(
    ({ filter }) =>
      filter && id === '' && Object.entries(filter).every(([name, value]) => query[name] === value),
  )
  return filtered ?? ofSection.find(({ filter }) => !filter)
}

interface FoundPage {
  readonly to: string
  readonly label: string
  readonly place: string
}

/** Lists without a tab. Those of a record, such as its entries, are found on its page. */
const listsWithin = ({ within = {} }: ConsolePlace, request: PageRequest) =>
  Object.entries(within).flatMap(([name, section]) =>
    section.table && pathParametersOf(section.table).length === 0 && isSeen(section, request)
      ? [{ label: section.title, address: `console/${name}` }]
      : [],
  )

/** All pages that the person may see, for the search. */
export const pagesFor = (request: PageRequest): readonly FoundPage[] => [
  { to: request.to('console'), label: HOME.title, place: '' },
  ...[...consolePlaces, accountPlace].flatMap(place => {
    const tabs = tabsFor(place, request).map(tab => ({ label: tab.label, address: addressOf(tab) }))
    return [...tabs, ...listsWithin(place, request), ...(place.links ?? [])].map(({ label, address }) => ({
      to: request.to(address),
      label,
      place: place.title,
    }))
  }),
]

const ACCOUNT_MENU: readonly (readonly [section: string, label: string])[] = [
  ['settings', 'Settings'],
  ['people', 'People & roles'],
  ['passkeys', 'Passkeys & devices'],
  ['deletions', 'Data protection'],
]

export function renderAccountMenu(request: PageRequest, hasOtherMode: boolean): Html {
  const { actor, tenant, to } = request
  const { name } = actor
  const seen = tabsFor(accountPlace, request).map(({ name: section }) => section)
  const lines = ACCOUNT_MENU.filter(([section]) => seen.includes(section))
  return html`<div class="person"><button type="button" class="plain" popovertarget="account" aria-label="Account"><span class="initial" aria-hidden="true">${renderText(initialOf(name), 2)}</span></button>
<div id="account" class="menu" popover>
<p><strong>${renderText(name, 40)}</strong><br>${roleOf(actor)}, ${tenant.mode} mode</p>
<ul>${lines.map(([section, label]) => html`<li><a href="${to(`console/${section}`)}">${label}</a></li>`)}</ul>
<ul>${hasOtherMode && html`<li><a href="${to('login')}?to=console">Switch to ${tenant.mode === 'test' ? 'live' : 'test'} mode</a></li>`}
<li><a href="${to('docs')}">Documentation</a></li>
<li><button type="button" class="plain" data-action="sign-out">Sign out</button></li></ul>
</div></div>`
}

const initialOf = (name: string | null | undefined): string =>
  Array.from((name ?? '').trim())[0]?.toUpperCase() ?? '?'
