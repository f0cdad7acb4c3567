import { Lexer, Marked, type MarkedToken, type Tokens } from 'marked'
import { type Html, type HtmlContent, html } from '../../web/html.ts'
import { type CodeSamples, renderCodePanel, renderCodeSamples, type SampleLanguage } from './panel.ts'

export interface MarkdownAddresses {
  readonly link: (target: string) => string | undefined
  readonly picture: (target: string) => string | undefined
}

/** Descriptions link only to served pages, and have no pictures. */
const asWritten: MarkdownAddresses = {
  link: target => (/^(https?:|#|\/)/.test(target) ? target : undefined),
  picture: () => undefined,
}

/** Only Markdown links become links: a bare URL in a sentence is an example. */
const { defaults: options } = new Marked({ tokenizer: { url: () => undefined } })

export const renderMarkdown = (text: string, addresses = asWritten): HtmlContent[] =>
  inRuns(parseMarkdownBlocks(text)).map(([block, ...others]) =>
    block.type === 'code' ? codeRun([block, ...(others as Tokens.Code[])]) : shown(block, addresses),
  )

/** Code without a text between belongs together. */
function inRuns(blocks: readonly MarkedToken[]): [MarkedToken, ...MarkedToken[]][] {
  const runs: [MarkedToken, ...MarkedToken[]][] = []
  for (const block of blocks.filter(({ type }) => type !== 'space')) {
    const run = runs.at(-1)
    if (block.type === 'code' && run?.[0].type === 'code') run.push(block)
    else runs.push([block])
  }
  return runs
}

export const parseMarkdownBlocks = (text: string): MarkedToken[] => Lexer.lex(text, options) as MarkedToken[]

export const headingSlug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replace(/\s/g, '-')

export const SETTING_NAME_PATTERN = /^`([A-Z][A-Z0-9_]+)`$/

function shown(token: MarkedToken, addresses: MarkdownAddresses): HtmlContent {
  const within = (tokens: readonly unknown[] = []): HtmlContent[] =>
    (tokens as readonly MarkedToken[]).map(inner => shown(inner, addresses))
  if (token.type === 'heading') return heading(token, within)
  if (token.type === 'code') return codePanel(token)
  if (token.type === 'table') return table(token, within)
  if (token.type === 'list') return list(token, within)
  if (token.type === 'paragraph') return html`<p>${within(token.tokens)}</p>`
  if (token.type === 'text') return token.tokens ? within(token.tokens) : token.text
  if (token.type === 'codespan') return codeSpan(token)
  if (token.type === 'strong') return html`<strong>${within(token.tokens)}</strong>`
  if (token.type === 'em') return html`<em>${within(token.tokens)}</em>`
  if (token.type === 'link') return link(addresses.link(token.href), within(token.tokens))
  if (token.type === 'image') return picture(addresses.picture(token.href), token.text)
  if (token.type === 'escape') return token.text
  if (token.type === 'space' || token.raw.startsWith('<!--')) return undefined
  return token.raw
}

/** The method of an operation has its colour. */
function codeSpan({ text }: Tokens.Codespan): Html {
  const [, method, path] = /^(GET|POST|PUT|PATCH|DELETE)( \/.*)$/.exec(text) ?? []
  if (!method) return html`<code>${text}</code>`
  return html`<code><span class="method ${method.toLowerCase()}">${method}</span>${path}</code>`
}

/** A heading may end with its own anchor, as in `## Agent {#record.Agent}`. */
function heading({ depth, text }: Tokens.Heading, within: Within): Html {
  const [, title = text, id = headingSlug(text)] = /^(.+) \{#(.+)\}$/.exec(text) ?? []
  const content = within(Lexer.lexInline(title, options))
  if (depth === 1) return html`<h1>${content}</h1>`
  if (depth === 2) return html`<h2 id="${id}"><a href="#${id}">${content}</a></h2>`
  return html`<h3 id="${id}">${content}</h3>`
}

const LANGUAGES: Readonly<Record<string, readonly [caption: string, language: SampleLanguage]>> = {
  bash: ['Terminal', 'shell'],
  sh: ['Terminal', 'shell'],
  json: ['JSON', 'json'],
  js: ['JavaScript', 'typescript'],
  ts: ['TypeScript', 'typescript'],
  python: ['Python', 'python'],
}

const COMMAND =
  /^([A-Z_]+=|(agentpay|cat|cp|curl|docker|export|git|node|npm|npx|openssl|postgres-config|psql|temporal)\b)/

/** The same call in several languages is shown in one of them. */
function codeRun(blocks: readonly Tokens.Code[]): Html {
  const named = blocks.flatMap(({ lang = '', text }) => {
    const language = SAMPLE_FENCES[lang]
    return language ? [[language, text] as const] : []
  })
  const samples: CodeSamples = Object.fromEntries(named)
  const isOneCall = samples.curl !== undefined || Object.keys(samples).length > 1
  const others = isOneCall ? blocks.filter(({ lang = '' }) => !(lang in SAMPLE_FENCES)) : blocks
  return html`<div class="code">${isOneCall && renderCodeSamples(samples)}${others.map(codePanel)}</div>`
}

/** What a code block of Markdown says after its fence, for a sample in each language. */
export const SAMPLE_FENCES: Readonly<Record<string, keyof CodeSamples>> = {
  'bash curl': 'curl',
  ts: 'typescript',
  python: 'python',
  'bash agentpay': 'cli',
}

/** The words after the language are the caption. */
function codePanel({ lang = '', text }: Tokens.Code): Html {
  const [, language = '', caption] = /^(\S*)(?: (.+))?$/.exec(lang) ?? []
  const [name, grammar] = LANGUAGES[language || (COMMAND.test(text) ? 'sh' : '')] ?? ['Example', 'json']
  return renderCodePanel(caption ?? name, text, grammar)
}

type Within = (tokens: readonly unknown[]) => HtmlContent[]

/** A row whose first cell is a setting has an anchor with the name of the setting. */
function table({ header, rows }: Tokens.Table, within: Within): Html {
  const row = (cells: Tokens.TableCell[]): Html => {
    const setting = SETTING_NAME_PATTERN.exec(cells[0]?.text ?? '')?.[1]
    const content = cells.map(({ tokens }) => html`<td>${within(tokens)}</td>`)
    return setting === undefined ? html`<tr>${content}</tr>` : html`<tr id="${setting}">${content}</tr>`
  }
  const names = header.map(({ tokens }) => html`<th scope="col">${within(tokens)}</th>`)
  return html`<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>
    <thead><tr>${names}</tr></thead>
    <tbody>${rows.map(row)}</tbody>
  </table></div>`
}

function list({ ordered, start, items }: Tokens.List, within: Within): Html {
  const content = items.map(({ tokens }) => html`<li>${within(tokens)}</li>`)
  return ordered ? html`<ol start="${start}">${content}</ol>` : html`<ul>${content}</ul>`
}

const link = (address: string | undefined, content: HtmlContent[]): HtmlContent =>
  address === undefined ? content : html`<a href="${address}">${content}</a>`

const picture = (address: string | undefined, text: string): HtmlContent =>
  address === undefined ? text : html`<img src="${address}" alt="${text}" loading="lazy">`
