import { describe, expect, test } from '@jest/globals'
import type { CDPSession } from 'playwright-core'
import { consoleScript, preloadedScripts } from '../../../src/surface/console/browser/browser.ts'
import { until } from '../../support/until.ts'
import { origin, saying, service, theOwnerAtThePage } from './trial-service.ts'

async function registrationIn(devTools: CDPSession): Promise<string> {
  const registered = new Promise<string>(resolve =>
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [registration] }) => {
      if (registration) resolve(registration.registrationId)
    }),
  )
  await devTools.send('ServiceWorker.enable')
  return registered
}

describe('the small ones', () => {
  test('an id is copied by keyboard, and the page says so', async () => {
    const { page } = await theOwnerAtThePage()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy the id' }).focus()
    await page.keyboard.press('Enter')
    await saying(page, '#news', 'Copied')
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('intent_1')
  })

  test('an instant is shown in the reader’s zone, with the exact one beside it and reachable by keyboard', async () => {
    const { page } = await theOwnerAtThePage({ timezoneId: 'Asia/Tokyo' })
    const time = page.locator('time')
    await time.filter({ hasText: '18:30' }).waitFor()
    expect(await time.innerText()).toMatch(/^(20 Nov|Today|Yesterday|Tomorrow)( \d{4})? 18:30$/)
    expect(await time.getAttribute('data-exact')).toBe('20 Nov 2026, 18:30:00 GMT+9\n2026-11-20 09:30:00 UTC')
    expect(await time.getAttribute('tabindex')).toBe('0')
  })

  test('rules that are typed say what they would decide, and a wrong one is refused at its field', async () => {
    const { page } = await theOwnerAtThePage()
    await page.getByLabel('Amount').fill('20')
    await saying(page, '[data-result]', /would be allowed|would need approval/)
    await page.getByLabel('At most').fill('10')
    await saying(page, '[data-result]', 'This would be denied.')
    expect(await page.innerText('[data-result]')).toContain('maxTransactionEuros')
    await page.getByLabel('At most').fill('-1')
    await saying(page, '#rules .refusal', 'maxTransactionEuros: must be')
    expect(await page.evaluate('document.activeElement.name')).toBe('maxTransactionEuros')
    expect(await page.innerText('[data-result]')).toBe('')
  })
})

test('a first visit loads at most 40,000 bytes of scripts besides the one that all pages share', () => {
  const sizes = [consoleScript, ...preloadedScripts].map(({ content }) => content.length)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(40_000)
})

describe('pushes', () => {
  test('the worker shows ids only, and a tap opens where one decides', async () => {
    const { page } = await theOwnerAtThePage({ permissions: ['notifications'] })
    const devTools = await page.context().newCDPSession(page)
    const registered = registrationIn(devTools)
    const [worker] = await Promise.all([
      page.context().waitForEvent('serviceworker'),
      // A push that arrives before the worker is active is dropped.
      page.evaluate(
        `navigator.serviceWorker.register('push-worker.js').then(() => navigator.serviceWorker.ready).then(${ACTIVATED})`,
      ),
    ])
    const registrationId = await registered
    const shown = []
    for (const data of PUSHES)
      shown.push(
        // A busy browser drops a push now and then. A repeated one has the same tag, and is shown once.
        await until(`${data.event} is shown`, async () => {
          const push = { origin, registrationId, data: JSON.stringify(data) }
          await devTools.send('ServiceWorker.deliverPushMessage', push)
          return worker.evaluate(`${TAP}('${data.eventId}')`)
        }),
      )
    expect(shown).toEqual([
      ['Waiting for you', 'intent_1', `${origin}/approve/intent_1`],
      ['agent frozen', 'agent_1', `${origin}/console/search?q=agent_1`],
      ['Waiting for you', 'cardreq_1', `${origin}/console/search?q=cardreq_1`],
      ['mpp credential action required', 'mppcredential_1', `${origin}/console/search?q=mppcredential_1`],
      ['person recovery started', 'person_1', `${origin}/console/search?q=person_1`],
    ])
  })

  test('a browser without a push service shows why notifications are off', async () => {
    const { page, ownerId } = await theOwnerAtThePage({ permissions: ['notifications'] })
    await saying(page, '[data-push-state]', 'Notifications are off in this browser.')
    await page.getByRole('button', { name: 'Ring here' }).click()
    await saying(page, '#trouble', 'The push service of the browser refused:')
    expect(await service.sql('select id from push_subscriptions where owner_id = $1', [ownerId])).toEqual([])
  })

  test('the manifest leads to the console, with an icon that is there', async () => {
    const response = await fetch(`${origin}/console/manifest.webmanifest`)
    expect(response.headers.get('content-type')).toContain('application/manifest+json')
    const { start_url, icons } = (await response.json()) as { start_url: string; icons: { src: string }[] }
    expect(new URL(start_url, response.url).pathname).toBe('/console')
    const icon = await fetch(new URL(String(icons[0]?.src), response.url))
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  })
})

/** A ready worker may not be active yet. */
const ACTIVATED = `({ active }) => new Promise(resolve => {
  const look = () => active.state === 'activated' && resolve(null)
  active.addEventListener('statechange', look)
  look()
})`

const PUSHES = [
  { intentId: 'intent_1', eventId: 'event_1', event: 'intent.created' },
  { agentId: 'agent_1', eventId: 'event_2', event: 'agent.frozen' },
  {
    requestId: 'cardreq_1',
    agentId: 'agent_1',
    eventId: 'event_3',
    event: 'card_limit_request.approval_reminder',
  },
  {
    credentialId: 'mppcredential_1',
    intentId: 'intent_1',
    eventId: 'event_5',
    event: 'mpp.credential.action_required',
  },
  { personId: 'person_1', eventId: 'event_4', event: 'person.recovery_started' },
]

/**
 * Runs in the worker: its notification for an event, and the page that a tap opens; null without one within
 * two seconds. Only a real tap opens a window.
 */
const TAP = `(async tag => {
  let opened
  clients.openWindow = async url => void (opened = url)
  let notification
  for (let looks = 0; looks < 100 && !notification; looks++) {
    ;[notification] = await registration.getNotifications({ tag })
    if (!notification) await new Promise(resolve => setTimeout(resolve, 20))
  }
  if (!notification) return null
  dispatchEvent(new NotificationEvent('notificationclick', { notification }))
  return [notification.title, notification.body, opened]
})`
