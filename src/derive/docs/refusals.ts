import { type ProblemCode, problems } from '../../kernel/contract/problem.ts'
import { type Content, type Html, html } from '../../web/html.ts'
import { refusalAddress } from '../guides/refusal-address.ts'
import type { Book, Entry } from './book.ts'
import { inline } from './markdown.ts'
import { advice } from './refusal-advice.ts'

/** An operation's own refusals, and the names of those that all operations share. */
export function refusals(book: Book, { operation, refusals: list }: Entry): Content {
  const own = list.filter(({ universal }) => !universal)
  const shared = list.filter(({ universal }) => universal)
  return html`<h3>Errors</h3>
    ${
      own.length > 0 &&
      table(
        `Errors of ${operation.operationId}`,
        ['Status', 'Code', 'Meaning'],
        own.map(({ status, code, message }) => [
          status,
          html`<a href="${refusalAddress(code)}"><code>${code}</code></a>`,
          inline(message),
        ]),
      )
    }
    <details class="shared"><summary>${own.length > 0 ? 'And those' : 'Those'} that any operation can meet</summary>
      <p>${shared.map(({ status, code }) => html`<a href="${book.href(`error.${code}`)}"><b>${status}</b> ${code}</a> `)}</p>
    </details>`
}

/** The refusals that every operation can meet, with advice. */
export const universalRefusals = (): Html =>
  table(
    'What any operation can meet',
    ['Status', 'Code', 'Meaning', 'What to do'],
    Object.entries(problems).map(([code, [status, message]]) => [
      status,
      html`<a href="${refusalAddress(code)}"><code id="error.${code}">${code}</code></a>`,
      inline(message),
      inline(advice[code as ProblemCode]),
    ]),
  )

const table = (label: string, head: readonly string[], rows: readonly (readonly Content[])[]): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
    <thead><tr>${head.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(row => html`<tr>${row.map(cell => html`<td>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`
