import { describe, expect, test } from '@jest/globals'
import { anAgentUnder, anIntent, aPolicy, bodyOf, type TestClient } from '../../support/factories.ts'
import { pressByKeyboard, tabTo } from '../../support/web/keyboard.ts'
import { markIn, newsIn, open, openAndJoin, openAsOwner, openBeside, troubleIn } from './devices.ts'
import { origin, service } from './pages-service.ts'

const rules = { name: 'Books', autoApproveLimitEuros: 10, maxTransactionEuros: 50 }

async function aWaitingIntent() {
  const { client, ownerId, key } = await service.owner()
  const agent = await anAgentUnder(client, rules)
  const intent = await anIntent(client, agent.id)
  return { client, ownerId, key, agent, intent, address: `${origin}/approve/${intent.id}` }
}

describe('a person with a passkey', () => {
  test('joins by a link, enrols, signs out and in, and approves, by keyboard alone', async () => {
    const { client, intent } = await aWaitingIntent()
    const { url } = await bodyOf(client.console.createLink({ body: {} }))
    const { page, complaints, requests } = await open(String(url))
    await pressByKeyboard(page, 'Sign in with this link')
    await page.waitForURL('**/join')
    await pressByKeyboard(page, 'Create passkey')
    await page.waitForURL('**/console')
    await page.goto(`${origin}/approve`)
    await pressByKeyboard(page, 'Sign out')
    await page.waitForURL('**/login')
    await page.goto(`${origin}/approve/${intent.id}`)
    await page.waitForURL('**/login?to=*')
    await pressByKeyboard(page, 'Sign in with a passkey')
    await page.waitForURL(`**/approve/${intent.id}`)
    await page.locator('blockquote').filter({ hasText: intent.id }).waitFor()
    await pressByKeyboard(page, 'Approve with passkey')
    await newsIn(page).filter({ hasText: 'Approved. Your signature is stored as proof.' }).waitFor()
    expect(await markIn(page).innerText()).toBe('Approved')
    expect(await page.evaluate('document.activeElement.id')).toBe('heading')
    expect(complaints).toEqual([])
    await tabTo(page, 'Open proof')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/intents/${intent.id}/approval`)
    expect(await page.innerText('body')).toContain(intent.id)
    const approved = await bodyOf(client.intents.get({ params: { id: intent.id } }))
    expect(approved).toMatchObject({ status: 'approved', decidedBy: { type: 'console' } })
    expect(requests.filter(address => !address.startsWith(origin))).toEqual([])
  })
})

describe('a decision on the page', () => {
  test('a finger that is not the user’s approves nothing, and the right one does', async () => {
    const { client, intent, address } = await aWaitingIntent()
    const { page, device } = await openAsOwner(client)
    await page.goto(address)
    await device.recognize(false)
    await page.getByRole('button', { name: 'Approve with passkey' }).click()
    await troubleIn(page).filter({ hasText: 'The passkey was not confirmed' }).waitFor()
    expect(await statusOf(client, intent.id)).toBe('created')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Approve with passkey')
    await device.recognize(true)
    await page.getByRole('button', { name: 'Approve with passkey' }).click()
    await newsIn(page).filter({ hasText: 'Approved.' }).waitFor()
    expect(await statusOf(client, intent.id)).toBe('approved')
  })

  test('in two windows at once is made once, and the other window says which', async () => {
    const { client, intent, address } = await aWaitingIntent()
    const first = await openAsOwner(client)
    await first.page.goto(address)
    const second = await openBeside(first, address)
    await second.page.getByLabel('Reason for denying').fill('Too expensive')
    await Promise.all([
      first.page.getByRole('button', { name: 'Approve with passkey' }).click(),
      second.page.getByRole('button', { name: 'Deny' }).click(),
    ])
    await Promise.all(
      [first, second].map(({ page }) => markIn(page).and(page.locator(':not(.created)')).waitFor()),
    )
    const status = await statusOf(client, intent.id)
    expect(['approved', 'denied']).toContain(status)
    const marks = await Promise.all([first, second].map(({ page }) => markIn(page).innerText()))
    expect(marks).toEqual(Array(2).fill(status === 'approved' ? 'Approved' : 'Denied'))
    const faster = [first, second].map(({ page }) =>
      troubleIn(page).filter({ hasText: 'This intent no longer waits for a decision.' }),
    )
    await Promise.race(faster.map(trouble => trouble.waitFor()))
    const told = await Promise.all(faster.map(trouble => trouble.count()))
    expect(told.sort()).toEqual([0, 1])
  })

  test('a decision of another person appears by itself, and polling for it does not extend the session', async () => {
    const { client, intent, address } = await aWaitingIntent()
    const { page, requests } = await openAsOwner(client)
    const polls: (string | undefined)[] = []
    page.on('request', request => {
      if (request.url().endsWith(`/intents/${intent.id}`)) polls.push(request.headers()['x-background'])
    })
    await page.clock.install()
    await page.goto(address)
    await bodyOf(client.intents.deny({ params: { id: intent.id }, body: { reason: 'Not now' } }))
    await page.clock.runFor(5_000)
    await newsIn(page).filter({ hasText: 'This has been decided in the meantime.' }).waitFor()
    expect(await markIn(page).innerText()).toBe('Denied')
    expect(await page.innerText('main')).toContain('Denied by an API key')
    expect(await page.innerText('main')).toContain('Not now')
    expect(polls).toContain('true')
    expect(polls).not.toContain(undefined)
    expect(requests.length).toBeGreaterThan(0)
  })

  test('waits for another reading where what would be signed has changed', async () => {
    const { client, intent, agent, address } = await aWaitingIntent()
    const { page } = await openAsOwner(client)
    await page.goto(address)
    const sentence = page.locator('blockquote')
    await sentence.filter({ hasText: 'Pay € 25.00 to' }).waitFor()
    const { id: policyId } = await aPolicy(client, { ...rules, amountTolerancePercent: 5 })
    await bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId } }))
    await page.getByRole('button', { name: 'Approve with passkey' }).click()
    await troubleIn(page).filter({ hasText: 'The statement that you sign has changed.' }).waitFor()
    expect(await sentence.innerText()).toContain('at most € 26.25')
    expect(await page.innerText('main')).toContain('€\u00a026.25')
    expect(await statusOf(client, intent.id)).toBe('created')
    await page.getByRole('button', { name: 'Approve with passkey' }).click()
    await newsIn(page).filter({ hasText: 'Approved.' }).waitFor()
  })
})

test('what cannot be approved now shows why, no sentence to sign, and can be denied', async () => {
  const { client, intent, agent, address } = await aWaitingIntent()
  const { page, complaints } = await openAsOwner(client)
  const { id: policyId } = await aPolicy(client, { ...rules, dailyLimitEuros: 20 })
  await bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId } }))
  await page.goto(address)
  const decide = page.locator('[data-decision]')
  await decide.getByText('Why it cannot be approved now').waitFor()
  expect(await decide.innerText()).toMatch(/daily limit of € 20\.00/)
  expect(await page.innerText('main')).not.toContain('Your passkey signs')
  expect(await page.locator('blockquote, [data-action="approve"]').count()).toBe(0)
  await page.getByLabel('Reason').fill('Too much')
  await page.getByRole('button', { name: 'Deny' }).click()
  await newsIn(page).filter({ hasText: 'Denied.' }).waitFor()
  expect(await statusOf(client, intent.id)).toBe('denied')
  expect(complaints).toEqual([])
})

describe('a viewer', () => {
  test('sees the request and its rules, and cannot decide', async () => {
    const { client, ownerId, intent, address } = await aWaitingIntent()
    const { page, complaints } = await openAsOwner(client)
    await service.sql(`update people set role = 'viewer' where owner_id = $1`, [ownerId])
    // The change of the role sends no event, so it applies from the next session on.
    await page.goto(`${origin}/login?to=approve/${intent.id}`)
    await page.locator('[data-action="sign-in"]').click()
    await page.waitForURL(address)
    const said = await page.innerText('main')
    for (const words of ['€\u00a025.00', 'Bookshop', 'Auto-approve limit', 'your role (Viewer)'])
      expect(said).toContain(words)
    expect(await page.locator('[data-action="approve"], [data-action="deny"]').count()).toBe(0)
    expect(complaints).toEqual([])
  })
})

/** An intent that two people must approve, and both at its page. */
async function twoAtThePage() {
  const { client } = await service.owner()
  // Once the account has a passkey, one must sign an invitation: so both are invited before.
  const invite = (name: string, role: 'owner' | 'approver') =>
    bodyOf(client.people.create({ body: { name, role } }))
  const [ofAda, ofGrace] = [await invite('Ada', 'owner'), await invite('Grace', 'approver')]
  const ada = await openAndJoin(ofAda.joinUrl)
  const grace = await openAndJoin(ofGrace.joinUrl)
  const step = { aboveEuros: 10, of: 'approvers', need: 2, withinMinutes: 60, then: 'deny' } as const
  const agent = await anAgentUnder(client, { approval: [step] })
  const { id } = await anIntent(client, agent.id)
  await grace.page.clock.install()
  for (const { page } of [ada, grace]) {
    await page.goto(`${origin}/approve/${id}`)
    await page.getByText('0 of 2 approvals.').waitFor()
  }
  return { client, ada, grace, id }
}

test('several people approve, each with a passkey of their own, and the page counts them', async () => {
  const { client, ada, grace, id } = await twoAtThePage()
  await ada.page.getByRole('button', { name: 'Approve with passkey' }).click()
  await newsIn(ada.page).filter({ hasText: 'Recorded. 1 more approval is needed.' }).waitFor()
  await ada.page
    .getByText('Your approval, or that of the person whose deputy you are, is given. Other people')
    .waitFor()
  expect(await ada.page.locator('[data-action="approve"]').count()).toBe(0)
  expect(await statusOf(client, id)).toBe('created')
  await grace.page.clock.runFor(5_000)
  await grace.page.getByText('1 of 2 approvals.').waitFor()
  await grace.page.locator('blockquote').filter({ hasText: id }).waitFor()
  await grace.page.getByRole('button', { name: 'Approve with passkey' }).click()
  await newsIn(grace.page).filter({ hasText: 'Approved.' }).waitFor()
  expect(await statusOf(client, id)).toBe('approved')
  expect([...ada.complaints, ...grace.complaints]).toEqual([])
})

test('a reason that a person is typing stays, and its field focused, when another person approves', async () => {
  const { client, ada, grace, id } = await twoAtThePage()
  const reason = grace.page.getByLabel('Reason for denying')
  await reason.pressSequentially('Too exp')
  await ada.page.getByRole('button', { name: 'Approve with passkey' }).click()
  await newsIn(ada.page).filter({ hasText: 'Recorded.' }).waitFor()
  await grace.page.clock.runFor(5_000)
  await grace.page.getByText('1 of 2 approvals.').waitFor()
  expect(await reason.inputValue()).toBe('Too exp')
  await grace.page.keyboard.type('ensive')
  await grace.page.getByRole('button', { name: 'Deny' }).click()
  await newsIn(grace.page).filter({ hasText: 'Denied.' }).waitFor()
  const denied = await bodyOf(client.intents.get({ params: { id } }))
  expect(denied).toMatchObject({ status: 'denied', comment: 'Too expensive' })
  expect(await grace.page.locator('#reason').count()).toBe(0)
})

const statusOf = async (client: TestClient, id: string) =>
  (await bodyOf(client.intents.get({ params: { id } }))).status
