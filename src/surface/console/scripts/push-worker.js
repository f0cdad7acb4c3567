// Shows a notification, and opens its page on a tap. A notification contains only ids.

const waits = new Set([
  'intent.created',
  'intent.approval_escalated',
  'intent.approval_recorded',
  'intent.approval_reminder',
  'card_limit_request.approval_escalated',
  'card_limit_request.approval_recorded',
  'card_limit_request.approval_reminder',
  'change_request.created',
])
const isGerman = navigator.language.startsWith('de')

function titleOf({ event }) {
  if (waits.has(event)) return isGerman ? 'Wartet auf Sie' : 'Waiting for you'
  return event.replaceAll(/[._]/g, ' ')
}

/** The most special record that the event names. */
const idOf = data =>
  ['credentialId', 'intentId', 'changeRequestId', 'transferId', 'requestId', 'agentId', 'personId', 'eventId']
    .map(name => data[name])
    .find(Boolean)

addEventListener('push', event => {
  const data = event.data.json()
  const shown = { body: idOf(data), tag: data.eventId, data, lang: isGerman ? 'de' : 'en' }
  event.waitUntil(registration.showNotification(titleOf(data), shown))
})

/** A decision has its own page; other records are found by id. Both addresses are relative to this script. */
function pageOf(data) {
  const id = idOf(data)
  const page = id === data.intentId ? `../approve/${id}` : `search?q=${id}`
  return new URL(page, registration.scope).href
}

addEventListener('notificationclick', event => {
  event.notification.close()
  event.waitUntil(clients.openWindow(pageOf(event.notification.data)))
})
