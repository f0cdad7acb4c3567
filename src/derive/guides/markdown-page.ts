import { type Content, type Html, html } from '../../web/html.ts'
import { type Language, panel } from '../docs/panel.ts'
import { type Block, blocksOf, cellsOf, slugOf } from './markdown-blocks.ts'

/** Where the links and the pictures of a file lead to on the page; undefined for what is not served. */
export interface Addresses {
  readonly link: (target: string) => string | undefined
  readonly picture: (target: string) => string | undefined
}

/** A file of docs/ as a page shows it, without its first heading. */
export const pageOf = (markdown: string, addresses: Addresses): Html[] =>
  blocksOf(markdown).map(block => shown(block, addresses))

const languages: Readonly<Record<string, Language>> = {
  bash: 'shell',
  sh: 'shell',
  json: 'json',
  js: 'typescript',
  ts: 'typescript',
}
const captions: Readonly<Record<string, string>> = {
  bash: 'Terminal',
  sh: 'Terminal',
  json: 'JSON',
  js: 'JavaScript',
  ts: 'TypeScript',
  python: 'Python',
}

function shown(block: Block, addresses: Addresses): Html {
  if (block.kind === 'heading') return heading(block, addresses)
  if (block.kind === 'code')
    return panel(captions[block.language] ?? 'Example', block.text, languages[block.language] ?? 'json')
  if (block.kind === 'table') return table(block.rows, addresses)
  if (block.kind === 'paragraph') return html`<p>${inline(block.text, addresses)}</p>`
  const items = block.items.map(item => html`<li>${inline(item, addresses)}</li>`)
  return block.isOrdered ? html`<ol start="${block.start}">${items}</ol>` : html`<ul>${items}</ul>`
}

function heading({ level, text }: Extract<Block, { kind: 'heading' }>, addresses: Addresses): Html {
  const content = inline(text, addresses)
  const id = slugOf(text)
  if (level === 1) return html`<h1>${content}</h1>`
  if (level === 2) return html`<h2 id="${id}"><a href="#${id}">${content}</a></h2>`
  return html`<h3 id="${id}">${content}</h3>`
}

/** A row whose first cell is the name of a setting can be linked to by that name. */
function table([head = '', _rule, ...rows]: readonly string[], addresses: Addresses): Html {
  const row = (text: string): Html => {
    const cells = cellsOf(text)
    const setting = SETTING.exec(cells[0] ?? '')?.[1]
    const content = cells.map(cell => html`<td>${inline(cell, addresses)}</td>`)
    return setting === undefined ? html`<tr>${content}</tr>` : html`<tr id="${setting}">${content}</tr>`
  }
  const names = cellsOf(head).map(cell => html`<th scope="col">${inline(cell, addresses)}</th>`)
  return html`<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>
    <thead><tr>${names}</tr></thead>
    <tbody>${rows.map(row)}</tbody>
  </table></div>`
}

export const SETTING = /^`([A-Z][A-Z0-9_]+)`$/

const PARTS = /(`[^`]+`|!?\[(?:[^\]]|\](?!\())*\]\([^)\s]+\)|\*\*[^*]+\*\*|\*[^\s*][^*]*\*)/

const inline = (text: string, addresses: Addresses): Content[] =>
  text.split(PARTS).map((part, index) => (index % 2 === 0 ? part : marked(part, addresses)))

function marked(part: string, addresses: Addresses): Content {
  if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`
  if (part.startsWith('**')) return html`<strong>${inline(part.slice(2, -2), addresses)}</strong>`
  if (part.startsWith('*')) return html`<em>${inline(part.slice(1, -1), addresses)}</em>`
  const [, mark, text = '', target = ''] = /^(!?)\[([\s\S]*)\]\(([^)]+)\)$/.exec(part) ?? []
  if (mark) {
    const picture = addresses.picture(target)
    return picture === undefined ? text : html`<img src="${picture}" alt="${text}" loading="lazy">`
  }
  const address = addresses.link(target)
  return address === undefined
    ? inline(text, addresses)
    : html`<a href="${address}">${inline(text, addresses)}</a>`
}
