import { all, call, complain, onPress, onSubmit, part, Refused, root, tell, words } from './page.js'

const subscriptionsOf = async () =>
  (await call('GET', 'push/subscriptions?limit=100', { background: true })).data

const bytesOf = text =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), character => character.charCodeAt(0))

const registered = () => navigator.serviceWorker.register(`${root}console/push-worker.js`)
const current = async () =>
  (await navigator.serviceWorker.getRegistration(`${root}console/`))?.pushManager.getSubscription()

async function standing() {
  const subscription = await current()
  if (!subscription) return {}
  const record = (await subscriptionsOf()).find(({ endpoint }) => endpoint === subscription.endpoint)
  return { subscription, record }
}

function show(record) {
  part('[data-push-state]').textContent = record ? words.rings : words.silent
  part('[data-action="push-off"]').hidden = !record
  part('[data-action="push-test"]').hidden = !record
  if (!record) return
  part('[data-push]').dataset.push = record.id
  for (const box of all('[data-push] input[name="events"]')) box.checked = record.events.includes(box.value)
}

async function subscribe() {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Refused('not_allowed', words.noRinging)
  const { publicKey } = await call('GET', 'push/vapid-key')
  await registered()
  const { pushManager } = await navigator.serviceWorker.ready
  const wish = { userVisibleOnly: true, applicationServerKey: bytesOf(publicKey) }
  return pushManager.subscribe(wish).catch(error => {
    throw new Refused('no_push', `${words.noPushService} ${error.message}`)
  })
}

onSubmit('push-on', async form => {
  const events = form.getAll('events')
  const subscription = await subscribe()
  const { endpoint, expirationTime, keys } = subscription.toJSON()
  const body = { endpoint, expirationTime, keys, events, label: form.get('label') || null }
  show(await call('POST', 'push/subscriptions', { body }))
  tell(words.rings)
})

onPress('push-off', async () => {
  const { subscription, record } = await standing()
  if (record) await call('DELETE', `push/subscriptions/${record.id}`)
  await subscription?.unsubscribe()
  show(undefined)
  tell(words.silent)
})

onPress('push-test', async () => {
  const { message } = await call('POST', `push/subscriptions/${part('[data-push]').dataset.push}/test`)
  tell(message)
})

if ('PushManager' in window && navigator.serviceWorker)
  standing().then(
    ({ record }) => show(record),
    error => complain(error.message),
  )
else part('[data-push-state]').textContent = words.noPush
