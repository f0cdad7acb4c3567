import { signWebhookHeaders } from '../../values/webhook-signature.ts'
import type { OperationObject } from '../openapi/types.ts'
import { type DocsBook, EVENTS_SECTION, jsonMediaType } from './book.ts'
import type { EventEntry, EventFamily, EventGroup } from './event-groups.ts'
import { memberList, parameterList } from './members.ts'
import { bulletList, fenced, oneLine, paragraphs } from './pages.ts'
import { printJson } from './print.ts'

export function eventsText(book: DocsBook, about: string): string {
  const { webhooks } = book.document
  const { post: sample } = webhooks['agent.frozen'] ?? Object.values(webhooks)[0] ?? {}
  return paragraphs(
    `# ${EVENTS_SECTION.title}`,
    about,
    ...(sample ? arrival(book, sample) : []),
    ...book.eventGroups.flatMap(group => groupText(book, group)),
  )
}

const groupText = (book: DocsBook, { id, title, families }: EventGroup): string[] => [
  `## ${title} events {#${id}}`,
  ...families.flatMap(family => familyText(book, family)),
]

const familyText = (book: DocsBook, { events, data, message }: EventFamily): string[] => [
  ...events.flatMap(event => eventText(book, event)),
  fenced(`json ${events[0]?.name}`, printJson(message)),
  `Data:\n\n${memberList(book, data, 'returned')}`,
]

const eventText = (book: DocsBook, { name, id, post, causes }: EventEntry): string[] => [
  `### \`${name}\` {#${id}}`,
  `${oneLine(post.summary)} ${post['x-status'] ? post.description : causesOf(book, causes)}`,
]

const FEW = 3

function causesOf(book: DocsBook, causes: readonly OperationObject[]): string {
  if (causes.length === 0) return 'By itself.'
  if (causes.length > FEW) return `After any of ${causes.length} operations.`
  return `After: ${causes.map(({ operationId, summary }) => `[${summary}](${book.href(operationId)})`).join(', ')}.`
}

const arrival = (book: DocsBook, sample: OperationObject): string[] => [
  `## How an event arrives {#${EVENTS_SECTION.arriving}}`,
  `[Subscribe](${book.href('webhooks.create')}) an address, and each event that you name is sent there by POST: signed, at
least once, in no certain order. The [deliveries](${book.href('webhooks.deliveries')}) of the subscription say what has not
arrived, and why. [All that has happened](${book.href('events.list')}) and [this list](${book.href('events.types')}) can be read, too.`,
  `Verify the signature over the bytes as they came, before anything else ([how](/docs/guides/webhooks#verify-the-signature));
answer; work afterwards. Take an event once: \`X-Service-Event-Id\` is the same at every attempt and for all your subscriptions.`,
  fenced('http Sent to you', arriving(sample)),
  fenced('ts', RECEIVER),
  `Headers:\n\n${parameterList(book, book.parametersOf(sample))}`,
  'The body has `event`, `createdAt` (when it happened) and `data`, whose form each event has below. Your answer:',
  bulletList(
    Object.entries(sample.responses).map(
      ([status, response]) => `\`${status}\`: ${'description' in response ? response.description : ''}`,
    ),
  ),
]

const SECRET = 'whsec_of_the_documentation'

function arriving({ requestBody }: OperationObject): string {
  const message = jsonMediaType(requestBody ?? {})?.example as { event: string; createdAt: string }
  const body = JSON.stringify(message)
  const headers = signWebhookHeaders(
    {
      deliveryId: 'delivery_01jd8x2m4ye7k9v0c3q5r6t8wz-1.274877906944',
      eventId: 'event_01jd8x2m4yf0r5s8a6b1c7d9xk',
      at: new Date(message.createdAt),
      event: message.event,
      body,
      requestId: '0199e7a2-5f1c-7c3a-9d7e-2b8f4c6a1d05',
    },
    { current: SECRET, next: null },
  )
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `POST /hooks/payments HTTP/1.1\n${lines.join('\n')}\n\n${body}`
}

const RECEIVER = `import { verifyWebhook } from 'agentpay/verify'

// The secret of the event above is '${SECRET}'.
const { eventId, event, data } = verifyWebhook(request.headers, rawBody, secret)`
