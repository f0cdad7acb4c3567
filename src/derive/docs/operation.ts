import { STATUS_CODES } from 'node:http'
import { type Html, type HtmlContent, html } from '../../web/html.ts'
import { type GuideFile, guideAddress } from '../guides/guides.ts'
import { headerParameters } from '../openapi/headers.ts'
import { ACCESS_HEADING } from '../openapi/operation.ts'
import type { ParameterObject, ResponseObject } from '../openapi/types.ts'
import {
  type DocsBook,
  type DocsChapter,
  docsSectionAddress,
  jsonMediaType,
  type OperationEntry,
  streamMediaType,
} from './book.ts'
import { renderInlineMarkdown, renderMarkdown } from './markdown.ts'
import { recordLink, renderMembers, renderParameters } from './members.ts'
import { renderCodePanel, renderCodeSamples } from './panel.ts'
import { DOCS_PARTS } from './parts.ts'
import { printJson } from './print.ts'
import { renderRefusals } from './refusals.ts'
import { codeSamples } from './samples.ts'

/** The page of an operation. Its parts are those that a reader of another API expects. */
export const renderOperation = (
  book: DocsBook,
  entry: OperationEntry,
  chapter: DocsChapter,
  guides: readonly GuideFile[],
): Html => html`
<article class="chapter operation">
<p class="trail"><a href="${docsSectionAddress(DOCS_PARTS.api.section)}">API</a> / ${chapter.place.title} / <a href="${docsSectionAddress(chapter.id)}">${chapter.name}</a></p>
<div class="split">
  <div class="text">
    <h1>${entry.operation.summary}</h1>
    <p class="address">${renderMethod(entry.method)} <code>${pathOf(entry.path)}</code></p>
    ${renderMarkdown(entry.operation.description.split(ACCESS_HEADING)[0] ?? '')}
    ${facts(book, entry)}
    ${inputs(book, entry)}
    ${returns(book, entry)}
    ${ownHeaders(entry)}
    ${renderRefusals(book, entry)}
    ${guides.length > 0 && html`<h2 id="guides">Guides</h2><ul class="plain">${guides.map(({ name, title, about }) => html`<li><a href="${guideAddress(name)}">${title}</a>: ${about}</li>`)}</ul>`}
  </div>
  <div class="code">
    ${renderCodeSamples(codeSamples(book, entry))}
    ${answer(entry)}
  </div>
</div>
</article>`

export const renderMethod = (name: string): Html =>
  html`<span class="method ${name.toLowerCase()}">${name}</span>`

const pathOf = (path: string): HtmlContent =>
  path
    .split('/')
    .map((part, index) => [index > 0 && html`/<wbr>`, part.startsWith('{') ? html`<var>${part}</var>` : part])

const callers: Readonly<Record<string, string>> = {
  apiKey: 'API key',
  consoleSession: 'person in the console',
  agentToken: 'agent token',
  dashboardSecret: 'dashboard secret',
  payment: 'anyone who pays',
}

function facts(book: DocsBook, { operation }: OperationEntry): Html {
  const schemes = operation.security.flatMap(requirement => Object.keys(requirement))
  const scope = operation['x-scope']
  return html`<dl class="facts">
    <div><dt>Who may call</dt><dd>${schemes.length > 0 ? chips(schemes.map(scheme => callers[scheme] ?? scheme)) : chips(['anyone'])}</dd></div>
    ${fact('Scope', scope ? [scope] : [])}
    ${fact('Emits', operation['x-events'] ?? [], name => book.href(`on.${name}`))}
    ${fact('Also at', operation['x-aliases'] ?? [])}
  </dl>`
}

const chips = (names: readonly string[]): Html[] =>
  names.map(name => html`<span class="chip">${name}</span> `)

function fact(title: string, names: readonly string[], hrefOf?: (name: string) => string): HtmlContent {
  if (names.length === 0) return false
  const shown = names.map(name => {
    const code = html`<code>${name}</code> `
    return hrefOf ? html`<a href="${hrefOf(name)}">${code}</a>` : code
  })
  return html`<div><dt>${title}</dt><dd>${shown}</dd></div>`
}

const places = { path: 'Path', query: 'Query', header: 'Headers' } as const

function inputs(book: DocsBook, { parameters: all, operation }: OperationEntry): HtmlContent {
  const { requestBody } = operation
  const body = jsonMediaType(requestBody ?? {})?.schema
  const about = [
    mediaTypes(requestBody?.content),
    requestBody?.description,
    !requestBody?.required && 'It may be left out.',
  ].filter(Boolean)
  const lists = (['path', 'query', 'header'] as const).flatMap(place => {
    const own = all.filter(parameter => parameter.in === place && !isOfAll(parameter))
    return own.length > 0 ? [html`<h2 id="${place}">${places[place]}</h2>${renderParameters(book, own)}`] : []
  })
  return [
    lists,
    body &&
      html`<h2 id="body">Body <small>${about.join(' ')}</small></h2>${renderMembers(book, body, 'sent')}`,
  ]
}

function mediaTypes(content: object = {}): string | undefined {
  const others = Object.keys(content).filter(type => type !== 'application/json')
  if (others.includes('multipart/form-data'))
    return 'As multipart/form-data, or as JSON with files in Base64.'
  return others.length > 0 && others[0] !== '*/*' ? `As ${others[0]}, or as JSON.` : undefined
}

const namesOfAll: ReadonlySet<string> = new Set(Object.values(headerParameters).map(({ name }) => name))

const isOfAll = ({ in: place, name }: ParameterObject): boolean => place === 'header' && namesOfAll.has(name)

function ownHeaders({ operation }: OperationEntry): HtmlContent {
  const found = Object.entries(operation.responses).flatMap(([status, response]) =>
    '$ref' in response ? [] : ownHeadersOf(response).map(([name, about]) => ({ status, name, about })),
  )
  if (found.length === 0) return false
  const rows = found.map(
    ({ status, name, about }) =>
      html`<li><p class="member"><code>${name}</code> <span class="type">${status}</span></p><p>${renderInlineMarkdown(about)}</p></li>`,
  )
  return html`<h2 id="answer-headers">Headers of the answer</h2><ul class="members">${rows}</ul>`
}

const ownHeadersOf = ({ headers = {} }: ResponseObject): [name: string, about: string][] =>
  Object.entries(headers).flatMap(([name, header]) =>
    '$ref' in header || name === 'X-Error-Code' ? [] : [[name, header.description ?? '']],
  )

function returns(book: DocsBook, { success: [status, response] }: OperationEntry): HtmlContent {
  const title = html`<h2 id="returns">Returns <small>${status} ${STATUS_CODES[status]}</small></h2>`
  const streamed = streamMediaType(response)
  if (streamed) {
    const { record = '' } = book.follow(streamed['x-itemSchema'])
    return [
      title,
      html`<p>A stream of ${recordLink(book, record)} records, <code>text/event-stream</code>.</p>`,
    ]
  }
  const schema = jsonMediaType(response)?.schema
  if (!schema) return [title, html`<p>${Object.keys(response.content ?? {})[0] ?? 'Nothing.'}</p>`]
  const { record, schema: target } = book.follow(schema)
  if (record) return [title, html`<p>The ${recordLink(book, record)} record.</p>`]
  const items = target.properties?.data?.items
  const page = items && 'nextCursor' in (target.properties ?? {}) && book.follow(items).record
  if (page)
    return [
      title,
      html`<p>A <a href="${book.href('lists')}">page</a> of ${recordLink(book, page)} records.</p>`,
    ]
  return [title, renderMembers(book, target, 'returned')]
}

function answer({ success: [status, response] }: OperationEntry): HtmlContent {
  const example = jsonMediaType(response)?.example
  const caption = html`<b class="status">${status}</b> ${STATUS_CODES[status]}`
  const streamed = streamMediaType(response)
  if (streamed) return renderCodePanel(caption, String(streamed.example).trimEnd(), 'shell')
  if (example === undefined)
    return html`<p class="empty">${caption} · ${Object.keys(response.content ?? {})[0] ?? 'no content'}</p>`
  return renderCodePanel(caption, printJson(example), 'json')
}
