import { signWebhookHeaders } from '../../values/webhook-signature.ts'
import { type Html, type HtmlContent, html } from '../../web/html.ts'
import type { OperationObject } from '../openapi/types.ts'
import { type DocsBook, EVENTS_SECTION, jsonMediaType } from './book.ts'
import type { EventEntry, EventFamily, EventGroup } from './event-groups.ts'
import { renderInlineMarkdown } from './markdown.ts'
import { renderMembers, renderParameters } from './members.ts'
import { renderCodePanel } from './panel.ts'
import { printJson } from './print.ts'

export function renderEventsChapter(book: DocsBook, about: string): Html {
  const { webhooks } = book.document
  const { post: sample } = webhooks['agent.frozen'] ?? Object.values(webhooks)[0] ?? {}
  return html`
<section class="chapter" aria-labelledby="${EVENTS_SECTION.id}">
<h1 id="${EVENTS_SECTION.id}">${EVENTS_SECTION.title}</h1>
<p class="about">${about}</p>
${sample && eventsSent(book, sample)}
${book.eventGroups.map(group => groupOf(book, group))}
</section>`
}

const groupOf = (book: DocsBook, { id, title, families }: EventGroup): Html => html`
<section id="${id}" aria-labelledby="${id}-title">
${families.map((family, index) => familyOf(book, family, index === 0 && html`<h2 id="${id}-title"><a href="#${id}">${title}</a> <small>events</small></h2>`))}
</section>`

const familyOf = (book: DocsBook, { events, data, message }: EventFamily, title: HtmlContent): Html => html`
<div class="split">
  <div class="text">
    ${title}
    <dl class="events">${events.map(one => event(book, one))}</dl>
    <h3>Data</h3>
    ${renderMembers(book, data, 'returned')}
  </div>
  <div class="code">${renderCodePanel(html`<code>${events[0]?.name}</code>`, printJson(message), 'json')}</div>
</div>`

const event = (book: DocsBook, { name, id, post, causes }: EventEntry): Html => html`
<div id="${id}"><dt><a href="#${id}"><code>${name}</code></a></dt>
<dd>${renderInlineMarkdown(post.summary)} ${post['x-status'] ? html`<small>${renderInlineMarkdown(post.description)}</small>` : causesOf(book, causes)}</dd></div>`

const FEW = 3

function causesOf(book: DocsBook, causes: readonly OperationObject[]): HtmlContent {
  if (causes.length === 0) return html`<small>By itself.</small>`
  const links = causes.map(
    ({ operationId, summary }) => html`<a href="${book.href(operationId)}">${summary}</a> `,
  )
  if (causes.length <= FEW) return html`<p class="causes">${links}</p>`
  return html`<details class="shared"><summary>After any of ${causes.length} operations</summary><p>${links}</p></details>`
}

const eventsSent = (book: DocsBook, sample: OperationObject): Html => html`
<section class="split" id="${EVENTS_SECTION.arriving}" aria-labelledby="${EVENTS_SECTION.arriving}-title">
  <div class="text">
    <h2 id="${EVENTS_SECTION.arriving}-title"><a href="#${EVENTS_SECTION.arriving}">How an event arrives</a></h2>
    <p><a href="${book.href('webhooks.create')}">Subscribe</a> an address, and each event that you name is sent there by POST: signed, at
      least once, in no certain order. What has not arrived, and why, is among the
      <a href="${book.href('webhooks.deliveries')}">deliveries</a> of the subscription; <a href="${book.href('events.list')}">all that has happened</a>
      and <a href="${book.href('events.types')}">this list</a> can be read, too.</p>
    <p>Verify the signature over the bytes as they came, before anything else; answer; work afterwards. Take an event once:
      ${renderInlineMarkdown('`X-Service-Event-Id` is the same at every attempt and for all your subscriptions.')}</p>
    <h3>Headers</h3>
    ${renderParameters(book, book.parametersOf(sample))}
    <h3>Body</h3>
    <p>${renderInlineMarkdown('`event`, `createdAt` (when it happened) and `data`, whose form each event has below.')}</p>
    <h3>Your answer</h3>
    <dl class="facts">${Object.entries(sample.responses).map(
      ([status, response]) =>
        html`<div><dt><code>${status}</code></dt><dd>${renderInlineMarkdown('description' in response ? response.description : '')}</dd></div>`,
    )}</dl>
  </div>
  <div class="code">
    ${renderCodePanel('Sent to you', arriving(sample), 'json')}
    ${renderCodePanel('TypeScript', RECEIVER, 'typescript')}
    ${renderCodePanel('Terminal', BY_HAND, 'shell')}
  </div>
</section>`

const SECRET = 'whsec_of_the_documentation'
const DELIVERY_ID = 'delivery_01jd8x2m4ye7k9v0c3q5r6t8wz-1.274877906944'
const EVENT_ID = 'event_01jd8x2m4yf0r5s8a6b1c7d9xk'

function arriving({ requestBody }: OperationObject): string {
  const message = jsonMediaType(requestBody ?? {})?.example as { event: string; createdAt: string }
  const body = JSON.stringify(message)
  const headers = signWebhookHeaders(
    {
      deliveryId: DELIVERY_ID,
      eventId: EVENT_ID,
      at: new Date(message.createdAt),
      event: message.event,
      body,
      requestId: '0199e7a2-5f1c-7c3a-9d7e-2b8f4c6a1d05',
    },
    { current: SECRET, next: null },
  )
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `POST /hooks/payments HTTP/1.1
${lines.join('\n')}

${body}`
}

const RECEIVER = `import { verifyWebhook } from '../client.ts'

// The secret of the event above is '${SECRET}'.
const { eventId, event, data } = verifyWebhook(request.headers, rawBody, secret)`

const BY_HAND = `{ printf '%s.%s.' "$DELIVERY_ID" "$TIMESTAMP"; cat body; } |
  openssl dgst -sha256 -hmac "$SECRET" -r |
  sed 's/^/sha256=/; s/ .*//'`
