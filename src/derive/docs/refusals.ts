import { type ProblemCode, problems } from '../../kernel/contract/problem.ts'
import { type Content, type Html, html } from '../../web/html.ts'
import type { Book, Entry } from './book.ts'
import { inline } from './markdown.ts'

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
        own.map(({ status, code, message }) => [status, html`<code>${code}</code>`, inline(message)]),
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
      html`<code id="error.${code}">${code}</code>`,
      inline(message),
      inline(advice[code as ProblemCode]),
    ]),
  )

const advice: Readonly<Record<ProblemCode, string>> = {
  invalid_request: 'Change what the message names; the same request will fail again.',
  invalid_json: 'Check quotes, commas and encoding.',
  body_incomplete: 'Send it again, with the same Idempotency-Key.',
  invalid_cursor: 'Begin again without `cursor`.',
  invalid_run: 'Start a run, or leave the header out.',
  unknown_reference: 'Check the ids in the body: each must be yours and of the same mode.',
  unauthenticated: 'Check the key: is it whole, not expired, not revoked?',
  invalid_dpop_proof:
    'Sign a new proof for each request with the key of the device, over method, address, time and key.',
  account_suspended: 'Ask whoever runs this installation why.',
  wrong_caller: 'Use the kind of credential that the operation names.',
  cross_site: 'Send it from a page of this service, or with a key in place of the cookie.',
  missing_scope: 'Make a key or token with that scope.',
  not_found: 'Check path and id. What belongs to others does not exist for you.',
  method_not_allowed: 'The header `Allow` lists the methods there are.',
  body_too_slow: 'Send it faster: all of it within 30 seconds, and a second more for each 125 KB.',
  in_progress: 'Wait a second and repeat the same request.',
  body_too_large: 'Send less.',
  unsupported_media_type: 'Set `Content-Type: application/json`, or another that the operation names.',
  idempotency_key_reused: 'Make a new key for each new request.',
  rate_limited: 'Wait for `Retry-After` seconds.',
  internal: 'Repeat with the same Idempotency-Key. If it stays, tell us the `X-Request-Id`.',
  busy: 'Repeat after `Retry-After` seconds.',
  not_configured: 'Set what the message names, or use test mode.',
  files_unavailable: 'Repeat in a while; if it stays, tell whoever runs this installation.',
  storage_full: 'Delete receipts that you need no more; `GET /receipts/storage` says what is used.',
  passkeys_unavailable: 'Set `PUBLIC_URL` to a host name with https.',
  overloaded: 'Repeat after `Retry-After` seconds.',
  outcome_unknown: 'Repeat with the same Idempotency-Key: nothing happens twice.',
  unavailable: 'Repeat after `Retry-After` seconds.',
}

const table = (label: string, head: readonly string[], rows: readonly (readonly Content[])[]): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
    <thead><tr>${head.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(row => html`<tr>${row.map(cell => html`<td>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`
