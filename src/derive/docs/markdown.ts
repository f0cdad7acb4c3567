import { Lexer, Marked, type MarkedToken, type Tokens } from 'marked'
import { memoizeBounded } from '../../values/bounded-cache.ts'
import { type Html, type HtmlContent, html } from '../../web/html.ts'
import { renderCodePanel, type SampleLanguage } from './panel.ts'

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
  parseMarkdownBlocks(text).map(block => shown(block, addresses))

/**
 * Renders a sentence with `code`, **strong** and links, without a paragraph around it. Cached, since
 * thousands of members share a few hundred sentences.
 */
export const renderInlineMarkdown = memoizeBounded((text): readonly HtmlContent[] =>
  (Lexer.lexInline(text, options) as MarkedToken[]).map(token => shown(token, asWritten)),
)

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
  if (token.type === 'heading') return heading(token, within(token.tokens))
  if (token.type === 'code') return codePanel(token)
  if (token.type === 'table') return table(token, within)
  if (token.type === 'list') return list(token, within)
  if (token.type === 'paragraph') return html`<p>${within(token.tokens)}</p>`
  if (token.type === 'text') return token.tokens ? within(token.tokens) : token.text
  if (token.type === 'codespan') return html`<code>${token.text}</code>`
  if (token.type === 'strong') return html`<strong>${within(token.tokens)}</strong>`
  if (token.type === 'em') return html`<em>${within(token.tokens)}</em>`
  if (token.type === 'link') return link(addresses.link(token.href), within(token.tokens))
  if (token.type === 'image') return picture(addresses.picture(token.href), token.text)
  if (token.type === 'escape') return token.text
  if (token.type === 'space' || token.raw.startsWith('<!--')) return undefined
  return token.raw
}

function heading({ depth, text }: Tokens.Heading, content: HtmlContent[]): Html {
  const id = headingSlug(text)
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

function codePanel({ lang, text }: Tokens.Code): Html {
  const language = lang ?? (COMMAND.test(text) ? 'sh' : '')
  return renderCodePanel(LANGUAGES[language]?.[0] ?? 'Example', text, LANGUAGES[language]?.[1] ?? 'json')
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
