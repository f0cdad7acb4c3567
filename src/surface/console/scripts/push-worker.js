// Shows that something waits, and opens it when it is tapped. It holds ids only, and does nothing else.

const waits = new Set(['intent.created', 'card_request.created', 'transfer.payee_confirmation_required'])
const isGerman = navigator.language.startsWith('de')

function titleOf({ event }) {
  if (waits.has(event)) return isGerman ? 'Wartet auf Sie' : 'Waits for you'
  return event.replaceAll(/[._]/g, ' ')
}

/** The id that the page of the event is about. */
const idOf = ({ intentId, transferId, agentId, eventId }) => intentId ?? transferId ?? agentId ?? eventId

addEventListener('push', event => {
  const data = event.data.json()
  const shown = { body: idOf(data), tag: data.eventId, data, lang: isGerman ? 'de' : 'en' }
  event.waitUntil(registration.showNotification(titleOf(data), shown))
})

/** What waits is decided on its page; everything else is found by its id. Both lie beside the folder of this script. */
function pageOf(data) {
  const page = data.intentId ? `../approve/${data.intentId}` : `search?q=${idOf(data)}`
  return new URL(page, registration.scope).href
}

addEventListener('notificationclick', event => {
  event.notification.close()
  event.waitUntil(clients.openWindow(pageOf(event.notification.data)))
})
