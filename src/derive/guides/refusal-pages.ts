import { STATUS_CODES } from 'node:http'
import { type ProblemCode, universalProblems } from '../../kernel/contract/problem.ts'
import { type Html, html } from '../../web/html.ts'
import type { DocsBook, OperationEntry } from '../docs/book.ts'
import type { DocsPage } from '../docs/layout.ts'
import { renderInlineMarkdown } from '../docs/markdown.ts'
import {
  operationRefusalRemedies,
  REFUSALS_SECTION,
  refusalAddress,
  refusalRemedies,
} from '../docs/refusals.ts'

export interface RefusalCode {
  readonly code: string
  readonly statuses: readonly string[]
  readonly sentences: ReadonlyMap<string, readonly OperationEntry[]>
  readonly isUniversal: boolean
}

export function collectRefusalCodes(book: DocsBook): RefusalCode[] {
  const codes = new Map<string, { statuses: Set<string>; sentences: Map<string, OperationEntry[]> }>()
  for (const [code, [status, message]] of Object.entries(universalProblems))
    codes.set(code, { statuses: new Set([String(status)]), sentences: new Map([[message, []]]) })
  for (const entry of book.entries)
    for (const { code, status, message, universal } of entry.refusals) {
      const known = codes.get(code) ?? { statuses: new Set(), sentences: new Map() }
      codes.set(code, known)
      known.statuses.add(status)
      const entries = known.sentences.get(message) ?? []
      known.sentences.set(message, universal ? entries : [...entries, entry])
    }
  return [...codes]
    .map(([code, { statuses, sentences }]) => ({
      code,
      statuses: [...statuses].toSorted(),
      sentences,
      isUniversal: code in universalProblems,
    }))
    .toSorted((one, other) => one.code.localeCompare(other.code, 'en'))
}

export function refusalPages(book: DocsBook, codes: readonly RefusalCode[]): DocsPage[] {
  const { title } = book.document.info
  const about =
    'An answer that says no names one of these codes in its header X-Error-Code; its body says why, in a sentence.'
  const overview = {
    section: REFUSALS_SECTION.id,
    title: `${REFUSALS_SECTION.title} · ${title}`,
    about,
    content: html`
<section class="guide">
  <h1>${REFUSALS_SECTION.title}</h1>
  <p class="about">${about}</p>
  <ul class="codes">${codes.map(
    ({ code, statuses }) =>
      html`<li><a href="${refusalAddress(code)}"><code>${code}</code></a> <span class="count">${statuses.join(', ')}</span></li>`,
  )}</ul>
</section>`,
  }
  return [overview, ...codes.map(code => refusalPage(book, code))]
}

const refusalPage = (book: DocsBook, refusal: RefusalCode): DocsPage => {
  const { code, statuses, sentences } = refusal
  const [first = ''] = sentences.keys()
  return {
    section: `${REFUSALS_SECTION.id}/${code}`,
    title: `${code} · ${book.document.info.title}`,
    about: first,
    content: html`
<article class="guide manual">
<h1><code>${code}</code></h1>
<p class="about">${statuses.map(status => `${status} ${STATUS_CODES[status] ?? ''}`).join(' or ')}</p>
<h2 id="why"><a href="#why">Why</a></h2>
${[...sentences].map(([sentence, entries]) => reason(book, sentence, entries))}
${refusal.isUniversal && html`<p>Any operation can meet it.</p>`}
<h2 id="remedy"><a href="#remedy">What to do</a></h2>
${remedies(refusal)}
<p><a href="/docs/${REFUSALS_SECTION.id}">All refusals</a></p>
</article>`,
  }
}

const reason = (book: DocsBook, sentence: string, entries: readonly OperationEntry[]): Html => html`
<p>${renderInlineMarkdown(sentence)}</p>
${
  entries.length > 0 &&
  html`<ul>${entries.map(
    ({ key, method, path, operation }) =>
      html`<li><a href="${book.href(key)}">${operation.summary}</a> <code>${method} ${path}</code></li>`,
  )}</ul>`
}`

/** Lists the advice of the code, or the remedies in its messages, and then those of each status. */
function remedies({ code, statuses, sentences, isUniversal }: RefusalCode): Html[] {
  const wishes = [...sentences.keys()].map(sentence => /[.:] ([A-Z].*)$/s.exec(sentence)?.[1] ?? '')
  const own = isUniversal
    ? [refusalRemedies[code as ProblemCode]]
    : [operationRefusalRemedies[code] ?? '', ...wishes]
  const general = statuses.map(status => byStatus[status] ?? byStatus[status.at(0) ?? ''] ?? '')
  return [...new Set([...own, ...general])]
    .filter(Boolean)
    .map(text => html`<p>${renderInlineMarkdown(text)}</p>`)
}

const byStatus: Readonly<Record<string, string>> = {
  400: 'Do first what the sentence asks for: the same request fails until the request or the record is another one.',
  401: 'Send a credential that is valid: `Authorization: Bearer …`.',
  402: 'Pay what the header `WWW-Authenticate` asks for, and ask again with `Authorization: Payment …`.',
  403: 'Use a credential, a role or a person that may do it; the sentence says which.',
  404: 'Check the id: it must be yours, and of the same mode, test or live. What belongs to others does not exist for you.',
  409: 'Read the record again before you decide whether to send the request once more.',
  410: 'It was there and is gone for good: make a new one.',
  413: 'Send less at once; the sentence says how much is taken.',
  422: 'The file or document was read and cannot be used; the sentence says why. Send another one.',
  429: 'Wait for as many seconds as `Retry-After` says, then send the same request.',
  3: 'Ask again at the address in the header `Location`.',
  4: 'Do what the sentence asks for: the same request fails until then.',
  5: 'Repeat it with the same `Idempotency-Key` after `Retry-After` seconds: nothing happens twice. If it persists, contact the operator of this installation with the `X-Request-Id`.',
}
