import { type ProblemCode, universalProblems } from '../../kernel/contract/problem.ts'
import { type Html, type HtmlContent, html } from '../../web/html.ts'
import type { DocsBook, OperationEntry } from './book.ts'
import { renderInlineMarkdown } from './markdown.ts'

export function renderRefusals(book: DocsBook, { operation, refusals: list }: OperationEntry): HtmlContent {
  const own = list.filter(({ universal }) => !universal)
  const shared = list.filter(({ universal }) => universal)
  return html`<h2 id="errors">Errors</h2>
    ${
      own.length > 0 &&
      table(
        `Errors of ${operation.operationId}`,
        ['Status', 'Code', 'Meaning'],
        own.map(({ status, code, message }) => [
          status,
          html`<a href="${refusalAddress(code)}"><code>${code}</code></a>`,
          renderInlineMarkdown(message),
        ]),
      )
    }
    <details class="shared"><summary>${own.length > 0 ? 'And those' : 'Those'} that all operations share</summary>
      <p>${shared.map(({ status, code }) => html`<a href="${book.href(`error.${code}`)}"><b>${status}</b> ${code}</a> `)}</p>
    </details>`
}

export const renderUniversalRefusals = (): Html =>
  table(
    'Errors of all operations',
    ['Status', 'Code', 'Meaning', 'What to do'],
    Object.entries(universalProblems).map(([code, [status, message]]) => [
      status,
      html`<a href="${refusalAddress(code)}"><code id="error.${code}">${code}</code></a>`,
      renderInlineMarkdown(message),
      renderInlineMarkdown(refusalRemedies[code as ProblemCode]),
    ]),
  )

const table = (label: string, head: readonly string[], rows: readonly (readonly HtmlContent[])[]): Html =>
  html`<div class="scroll" role="group" aria-label="${label}" tabindex="0"><table>
    <thead><tr>${head.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(row => html`<tr>${row.map(cell => html`<td>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`

export const refusalRemedies: Readonly<Record<ProblemCode, string>> = {
  invalid_request: 'Change what the message names; the same request will fail again.',
  invalid_json: 'Check quotes, commas and encoding.',
  body_incomplete: 'Send it again, with the same Idempotency-Key.',
  invalid_cursor: 'Begin again without `cursor`.',
  invalid_run: 'Start a run, or leave the header out.',
  unknown_reference: 'Check the ids in the body: each must be yours and of the same mode.',
  unauthenticated: 'Check the key: is it whole, not expired, not revoked?',
  invalid_dpop_proof:
    'Sign a new proof for each request with the key of the device, over method, address, time and key.',
  account_suspended: 'Ask the operator of this installation for the reason.',
  wrong_caller: 'Use the kind of credential that the operation names.',
  cross_site: 'Send it from a page of this service, or with a key in place of the cookie.',
  missing_scope: 'Create a key or token with that scope.',
  not_found: 'Check the path and the id. Records of other owners are not visible to you.',
  method_not_allowed: 'The header `Allow` lists the allowed methods.',
  body_too_slow: 'Send it faster: all of it within 30 seconds, and a second more for each 125 KB.',
  in_progress: 'Wait a second and repeat the same request.',
  body_too_large: 'Send less.',
  unsupported_media_type: 'Set `Content-Type: application/json`, or another that the operation names.',
  idempotency_key_reused: 'Use a new key for each new request.',
  rate_limited: 'Wait for `Retry-After` seconds.',
  internal:
    'Repeat with the same Idempotency-Key. If it persists, contact the operator with the `X-Request-Id`.',
  busy: 'Repeat after `Retry-After` seconds.',
  not_configured: 'Set what the message names, or use test mode.',
  files_unavailable: 'Try again later; if it persists, contact the operator of this installation.',
  storage_full: 'Delete receipts that you need no more; `GET /receipts/storage` says what is used.',
  passkeys_unavailable: 'Set `PUBLIC_URL` to a host name with https.',
  overloaded: 'Repeat after `Retry-After` seconds.',
  outcome_unknown: 'Repeat with the same Idempotency-Key: nothing happens twice.',
  unavailable: 'Repeat after `Retry-After` seconds.',
}

export const operationRefusalRemedies: Readonly<Record<string, string>> = {
  insufficient_funds:
    'Check the balance with `GET /wallets/{id}` or `GET /agents/{id}/balance`; the held part is reserved for other payments. Then pay less, or fund the wallet first.',
  intent_not_approved:
    'Read the intent with `GET /intents/{id}`. While it is `created`, wait for the decision: by `GET /events/stream`, `agentpay intents wait` or the webhook `intent.approved`. A `completed` one is paid: declare another one for another payment.',
  intent_not_waiting: 'Read the intent: `decidedBy` names who decided first, and `status` the result.',
  intent_required: 'Declare an intent with `POST /intents`, and name it in `intentId` once it is approved.',
  intent_other_agent: 'Declare the intent with the agent whose card pays, or pay with a card of that agent.',
  insufficient_role: 'Have a person with the role `owner` or `approver` sign. `GET /people` lists the roles.',
  test_mode_only: 'Use a key `sk_sandbox_…` or `sk_test_…`. Live mode has no simulations.',
  card_not_active:
    'Read the card with `GET /cards/{id}`: unfreeze it, or issue another one with `POST /cards`.',
  card_not_issued: 'Wait for the webhook `card.issued`, or read `GET /cards/{id}` until it is `active`.',
  card_of_other_intent:
    'Take a card for several payments (`"usage": "multi"`), or issue one for this intent.',
  wallet_frozen: 'Unfreeze it with `PATCH /wallets/{id}`, once you know why it was frozen.',
  request_gone: 'Ask for a new request, or make one with `POST /collect/requests`.',
  request_paid: 'Do not pay again. `GET /collect/requests/{id}` shows the received payments.',
  daily_limit_exceeded: 'Wait until the next day, or have the limit raised.',
  single_limit_exceeded: 'Pay in parts if the payee accepts that, or have the limit raised.',
  delegation_over: 'Ask the issuer of the delegation for a new one.',
  external_id_taken: 'Look for the record that has it; it is probably the one that you wanted to create.',
  filler_key_required:
    'Let the owner register the key of the form filler once, with `POST /checkout/filler-keys`.',
  span_invalid: 'Swap `from` and `to`, or leave one of them out.',
}

export const REFUSALS_SECTION = { id: 'errors', title: 'Error codes' }

export const refusalAddress = (code: string): string => `/docs/${REFUSALS_SECTION.id}/${code}`
