import type { Book, Chapter, Entry } from './book.ts'
import type { EventGroup } from './event-groups.ts'
import { EVENTS } from './events.ts'
import type { Guide } from './guide.ts'
import { type Html, html } from './html.ts'
import { method } from './operation.ts'

/** Everything on the page, by chapter, with a field that narrows it. */
export const navigation = (book: Book, guides: readonly Guide[]): Html => html`
<nav id="menu" aria-label="Contents">
  <div class="top">
    <a class="close" href="#content">Close</a>
    <div class="search" role="search">
      <label for="search">Search</label>
      <input id="search" type="search" placeholder="Operations, events" autocomplete="off" spellcheck="false" aria-describedby="found">
      <kbd aria-hidden="true">/</kbd>
    </div>
    <p id="found" role="status"></p>
  </div>
  <div class="list">
    <ul class="guides">${[{ id: 'quickstart', title: 'Quickstart' }, ...guides].map(
      ({ id, title }) => html`<li><a href="#${id}" data-find="${title.toLowerCase()}">${title}</a></li>`,
    )}</ul>
    ${book.chapters.map(chapter)}
    ${events(book.eventGroups)}
  </div>
</nav>`

const chapter = ({ id, name, records, entries }: Chapter): Html => html`<details>
  <summary>${name} <span class="count">${entries.length}</span></summary>
  <ul>
    <li><a href="#${id}" data-find="${name.toLowerCase()}">Overview</a></li>
    ${entries.map(link)}
    ${records.map(record => html`<li><a class="record" href="#record.${record}" data-find="${record.toLowerCase()} record">${record}</a></li>`)}
  </ul>
</details>`

const events = (groups: readonly EventGroup[]): Html => {
  const all = groups.flatMap(({ families }) => families.flatMap(family => family.events))
  return html`<details>
  <summary>${EVENTS.title} <span class="count">${all.length}</span></summary>
  <ul>
    <li><a href="#received-events" data-find="how an event arrives headers signature webhook">How an event arrives</a></li>
    ${all.map(
      ({ id, name, post }) =>
        html`<li><a class="event" href="#${id}" data-find="${`${name} ${post.summary}`.toLowerCase()}">${name}</a></li>`,
    )}
  </ul>
</details>`
}

const link = (entry: Entry): Html =>
  html`<li><a class="operation" href="#${entry.key}" data-find="${wordsOf(entry)}"><span>${
    entry.operation.summary
  }</span> ${method(entry.method)}</a></li>`

/** What one may look for: names, addresses, scopes, events, the refusals of its own. */
const wordsOf = ({ key, method: verb, path, operation, refusals }: Entry): string =>
  [
    key,
    verb,
    path,
    operation.summary,
    operation['x-scope'],
    ...(operation['x-events'] ?? []),
    ...(operation['x-aliases'] ?? []),
    ...refusals.filter(({ universal }) => !universal).map(({ code }) => code),
  ]
    .filter(Boolean)
    .join(' ')
    .toLowerCase()
