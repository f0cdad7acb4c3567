// Shows a notification, and opens its page on a tap. A notification contains only ids.

const waits = new Set([
  'intent.created',
  'intent.approval_escalated',
  'intent.approval_reminder',
  'card_limit_request.approval_escalated',
  'card_limit_request.approval_reminder',
  'change_request.created',
])
const isGerman = navigator.language.startsWith('de')

function titleOf({ event }) {
  if (waits.has(event)) return isGerman ? 'Wartet auf Sie' : 'Waiting for you'
  return event.replaceAll(/[._]/g, ' ')
}

const idOf = ({ intentId, changeRequestId, transferId, requestId, agentId, personId, eventId }) =>
  intentId ?? changeRequestId ?? transferId ?? requestId ?? agentId ?? personId ?? eventId

addEventListener('push', event => {
  const data = event.data.json()
  const shown = { body: idOf(data), tag: data.eventId, data, lang: isGerman ? 'de' : 'en' }
  event.waitUntil(registration.showNotification(titleOf(data), shown))
})

/** A decision has its own page; other records are found by id. Both addresses are relative to this script. */
function pageOf(data) {
  const page = data.intentId ? `../approve/${data.intentId}` : `search?q=${idOf(data)}`
  return new URL(page, registration.scope).href
}

addEventListener('notificationclick', event => {
  event.notification.close()
  event.waitUntil(clients.openWindow(pageOf(event.notification.data)))
})
