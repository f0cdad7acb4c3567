import { STATUS_CODES } from 'node:http'
import type { ProblemCode } from '../../kernel/contract/problem.ts'
import { type Html, html } from '../../web/html.ts'
import type { DocsBook, OperationEntry } from '../docs/book.ts'
import { causeOf, mendingSample } from '../docs/error-causes.ts'
import type { DocsPage } from '../docs/layout.ts'
import { renderInlineMarkdown } from '../docs/markdown.ts'
import { renderCodeSamples } from '../docs/panel.ts'
import { DOCS_PARTS } from '../docs/parts.ts'
import type { RefusalCode } from '../docs/refusal-codes.ts'
import {
  operationRefusalRemedies,
  REFUSALS_SECTION,
  refusalAddress,
  refusalRemedies,
} from '../docs/refusals.ts'

export function refusalPages(book: DocsBook, codes: readonly RefusalCode[]): DocsPage[] {
  const { title } = book.document.info
  const about =
    'A refused request has one of these codes in the header X-Error-Code, and says why in a sentence.'
  const overview: DocsPage = {
    part: 'api',
    section: REFUSALS_SECTION.id,
    title: `${REFUSALS_SECTION.title} · ${title}`,
    about,
    content: html`
<section class="guide">
  <h1>${REFUSALS_SECTION.title}</h1>
  <p class="about">${about}</p>
  ${renderCodeSamples(HANDLING)}
  <h2 id="any-operation"><a href="#any-operation">Of any operation</a></h2>
  ${codeList(codes.filter(({ isUniversal }) => isUniversal))}
  <h2 id="own"><a href="#own">Of single operations</a></h2>
  ${codeList(codes.filter(({ isUniversal }) => !isUniversal))}
</section>`,
  }
  return [overview, ...codes.map(code => refusalPage(book, code))]
}

const HANDLING = {
  curl: `curl -i "$URL/agents/agent_unknown" -H "Authorization: Bearer $KEY"`,
  typescript: `import { Refused } from 'agentpay'

try {
  await pay.agents.get('agent_unknown')
} catch (error) {
  if (error instanceof Refused && error.code === 'agent_not_found') console.log(error.message)
  else throw error
}`,
  python: `from agentpay import Refused

try:
    pay.agents.get("agent_unknown")
except Refused as error:
    if error.code != "agent_not_found":
        raise
    print(error)`,
  cli: 'agentpay agents get agent_unknown --json',
} as const

const codeList = (codes: readonly RefusalCode[]): Html =>
  html`<ul class="codes">${codes.map(
    ({ code, statuses }) =>
      html`<li><a href="${refusalAddress(code)}"><code>${code}</code></a> <span class="count">${statuses.join(', ')}</span></li>`,
  )}</ul>`

const refusalPage = (book: DocsBook, refusal: RefusalCode): DocsPage => {
  const { code, statuses, sentences, isUniversal } = refusal
  const [first = ''] = sentences.keys()
  const advice = remediesOf(refusal)
  const cause = causeOf(refusal)
  const sample = mendingSample(book, refusal, advice)
  return {
    part: 'api',
    section: `${REFUSALS_SECTION.id}/${code}`,
    title: `${code} · ${book.document.info.title}`,
    about: first,
    content: html`
<article class="guide manual">
<p class="trail"><a href="/docs/${DOCS_PARTS.api.section}">API</a> / <a href="/docs/${REFUSALS_SECTION.id}">${REFUSALS_SECTION.title}</a></p>
<h1><code>${code}</code></h1>
<p class="about">${statuses.map(status => `${status} ${STATUS_CODES[status] ?? ''}`).join(' or ')}</p>
<h2 id="meaning"><a href="#meaning">What it means</a></h2>
${[...sentences.keys()].map(sentence => html`<p>${renderInlineMarkdown(sentence)}</p>`)}
<h2 id="cause"><a href="#cause">Why it happens</a></h2>
${cause !== undefined && html`<p>${renderInlineMarkdown(cause)}</p>\n`}${isUniversal ? html`<p>Any operation can return it.</p>` : [...sentences].map(([sentence, entries]) => reason(book, sentence, entries, sentences.size > 1))}
<h2 id="remedy"><a href="#remedy">How to fix it</a></h2>
${advice.map(text => html`<p>${renderInlineMarkdown(text)}</p>`)}
<p>${sample.lead}</p>
${renderCodeSamples(sample.code)}
</article>`,
  }
}

const reason = (
  book: DocsBook,
  sentence: string,
  entries: readonly OperationEntry[],
  hasOthers: boolean,
): Html => html`<p>${hasOthers ? html`“${renderInlineMarkdown(sentence)}” is returned by:` : 'It is returned by:'}</p>
${operationList(book, entries)}`

/** A code of many operations would push its remedy out of sight. */
const FEW = 6

function operationList(book: DocsBook, entries: readonly OperationEntry[]): Html {
  const list = html`<ul>${entries.map(
    ({ key, method, path, operation }) =>
      html`<li><a href="${book.href(key)}">${operation.summary}</a> <code>${method} ${path}</code></li>`,
  )}</ul>`
  if (entries.length <= FEW) return list
  return html`<details><summary>${entries.length} operations</summary>${list}</details>`
}

/** The advice of the code, or the remedies in its messages, and then that of each status. */
export function remediesOf({ code, statuses, sentences, isUniversal }: RefusalCode): string[] {
  const wishes = [...sentences.keys()].map(sentence => /[.:] ([A-Z].*)$/s.exec(sentence)?.[1] ?? '')
  const own = isUniversal
    ? [refusalRemedies[code as ProblemCode]]
    : [operationRefusalRemedies[code] ?? '', ...wishes]
  const general = statuses.map(status => byStatus[status] ?? byStatus[status.at(0) ?? ''] ?? '')
  return [...new Set([...own, ...general])].filter(Boolean)
}

const byStatus: Readonly<Record<string, string>> = {
  400: 'Change the request, or the record that it is about. The same request fails again until then.',
  401: 'Send a credential that is valid: `Authorization: Bearer …`.',
  402: 'Pay what the header `WWW-Authenticate` requests, and repeat the request with `Authorization: Payment …`.',
  403: 'Use a credential, a role or a person with the right. The message says which.',
  404: 'Check the id: it must be yours, and of the same mode (test or live). Records of other owners are not visible to you.',
  409: 'Read the record again before you decide whether to send the request once more.',
  410: 'It existed and does not come back. Create a new one.',
  413: 'Send less at once. The message says how much is accepted.',
  422: 'The content was read and cannot be used. The message says why. Send other content.',
  429: 'Wait for as many seconds as `Retry-After` says, then send the same request.',
  3: 'Repeat the request at the address in the header `Location`.',
  4: 'Do what the message says. The same request fails until then.',
  5: 'Repeat it with the same `Idempotency-Key` after `Retry-After` seconds: nothing happens twice. If it persists, contact the operator of this installation with the `X-Request-Id`.',
}
