import { describe, expect, test } from '@jest/globals'
import { anAgentUnder, anIntent, aPolicy, bodyOf } from '../../support/factories.ts'
import { aPerson } from '../../support/identity/people.ts'
import { until } from '../../support/until.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { aVisitor, service } from './visitors.ts'

describe('the page of a policy', () => {
  test('has a field of its own kind for each rule, and applies and deletes only templates', async () => {
    const { owner, read } = await aVisitor()
    const agent = await anAgentUnder(owner.client, { name: 'Books', requireIntent: true })
    const template = await aPolicy(owner.client, {
      name: 'Books',
      merchantAllowlist: ['a.example', 'b.example'],
    })
    const { text } = await read(`console/policies/${template.id}`)
    expect(text).toMatch(/<input [^>]*type="number" name="dailyLimitEuros"/)
    expect(text).toMatch(/<input [^>]*type="checkbox" name="requireIntent"/)
    expect(text).toContain('Require an approved intent for card payments')
    expect(text).toMatch(
      /<textarea [^>]*name="merchantAllowlist"[^>]*data-type="list"[^>]*>a\.example\nb\.example</,
    )
    expect(text).toMatch(/<select [^>]*name="expirationAction"/)
    expect(text).toContain('data-operation="POST /policies/{id}/apply"')
    const own = await bodyOf(owner.client.policies.effective({ params: { agentId: agent.id } }))
    const ofAgent = await read(`console/policies/${own.id}`)
    expect(ofAgent.text).toContain('data-operation="PUT /policies/{id}"')
    expect(ofAgent.text).not.toContain('/apply"')
    expect(ofAgent.text).not.toContain('data-operation="DELETE')
  })

  test.each([
    [{ requireIntent: true }, 'Every payment needs approval, cards pay only on approved intents.'],
    [{ autoApproveLimitEuros: 100, requireAttestation: true }, 'A passkey is needed for every payment.'],
    [
      { mccCategories: ['software'], allowedMccs: ['5942'], blockedMccs: ['7995'] },
      'Only for software or category 5942, not category 7995.',
    ],
    [{ allowedMccs: ['5942'] }, 'Only category 5942.'],
    [{ expiresAfterMinutes: 60 }, 'Expires after 60 min, then notify.'],
    [{ expiresAfterMinutes: 60, expirationAction: 'freeze' }, 'Expires after 60 min, then freeze.'],
  ] as const)('says of %j: %s', async (rules, said) => {
    const { owner, read } = await aVisitor()
    const { id } = await aPolicy(owner.client, { name: 'Books', ...rules } as never)
    const { text } = await read(`console/policies/${id}`)
    expect([...text.matchAll(/<p class="says"[^>]*>([^<]*)</g)].map(([, one]) => one)).toContain(said)
  })

  test('says that steps go before the auto-approve limit', async () => {
    const { owner, read } = await aVisitor()
    await aPerson(service, owner, { role: 'owner' })
    const step = { aboveEuros: 50, of: 'owners', need: 1, withinMinutes: 60, then: 'deny' } as const
    const rules = { name: 'Books', autoApproveLimitEuros: 100, approval: [step] }
    const { id } = await aPolicy(owner.client, rules)
    expect((await read(`console/policies/${id}`)).text).toContain(
      '>Payments up to €\u00a0100 that no step asks for are approved automatically.<',
    )
  })

  test('simulates a payment while the person types, saves, replays past decisions and shows the change', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { name: 'Books', autoApproveLimitEuros: 50 })
    await anIntent(client, agent.id, { amountEuros: 30 })
    const policy = await aPolicy(client, { name: 'Narrow', autoApproveLimitEuros: 50 })
    const { page, complaints } = await openAsOwner(client)
    await page.goto(new URL(`console/policies/${policy.id}`, page.url()).href)
    await page.locator('#try-amount').fill('30')
    const result = page.locator('[data-result]')
    await result.getByText('within the auto-approve limit of € 50.00').first().waitFor()
    await page.locator('[name="maxTransactionEuros"]').fill('20')
    await result.getByText('20.00').first().waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('#versions').getByText('20.00').first().waitFor()
    await page.getByRole('button', { name: 'Replay the last 30 days' }).click()
    await page.locator('#backtest').getByText('Newly denied').waitFor()
    expect((await bodyOf(client.policies.get({ params: { id: policy.id } }))).maxTransactionEuros).toBe(20)
    expect(complaints).toEqual([])
  })

  test('takes steps of approval, reads them back while the person types, and removes one', async () => {
    const { client } = await service.owner()
    const policy = await aPolicy(client, { name: 'Books' })
    const { page, complaints } = await openAsOwner(client)
    await page.goto(new URL(`console/policies/${policy.id}`, page.url()).href)
    const add = page.getByRole('button', { name: 'Add step' })
    await page.locator('form .says').getByText('One person approves.').waitFor()
    await add.click()
    const first = page.getByRole('group', { name: 'Step 1' })
    await first.getByLabel('Above (€)').fill('10')
    await first.getByLabel('How many of them').fill('1')
    await first.getByLabel('If too few approve').selectOption('next')
    await page
      .getByText('Above €\u00a010: an approver within a day, else ask the next step as well.')
      .waitFor()
    await add.click()
    const second = page.getByRole('group', { name: 'Step 2' })
    await second.getByLabel('Above (€)').fill('1000')
    await second.getByRole('combobox', { name: 'Who is asked' }).selectOption('')
    await second.locator('input[type="checkbox"]').first().check()
    await second.getByLabel('How many of them').fill('1')
    await second.getByLabel('Within (minutes)').fill('240')
    await page.getByText('; above €\u00a01,000: 1 of 1 named person within 4 hours, else deny.').waitFor()
    await first.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Above €\u00a01,000: 1 of 1 named person within 4 hours, else deny.').waitFor()
    expect(await second.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('#versions').getByText('Steps of approval').first().waitFor()
    const { data } = await bodyOf(client.people.list())
    const { approval } = await bodyOf(client.policies.get({ params: { id: policy.id } }))
    expect(approval).toEqual([
      { aboveEuros: 1_000, of: [data[0]?.id], need: 1, withinMinutes: 240, then: 'deny' },
    ])
    expect(complaints).toEqual([])
  })

  test('takes steps of approval for a new template', async () => {
    const { client } = await service.owner()
    await aPolicy(client, { name: 'Other' })
    const { page, complaints } = await openAsOwner(client)
    await page.goto(new URL('console/policies', page.url()).href)
    await page.locator('button[commandfor]', { hasText: 'New limit template' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Books')
    await dialog.getByRole('button', { name: 'Add step' }).click()
    const step = dialog.getByRole('group', { name: 'Step 1' })
    await step.getByLabel('Above (€)').fill('100')
    await step.getByLabel('How many of them').fill('1')
    await dialog.getByRole('button', { name: 'New limit template' }).click()
    await until('the template is made', async () => (await bodyOf(client.policies.list())).data[1])
    const [made] = (await bodyOf(client.policies.list())).data
    expect(made?.approval).toMatchObject([{ aboveEuros: 100, of: 'approvers', need: 1 }])
    expect(complaints).toEqual([])
  })

  test('answers what was typed before its script had come', async () => {
    const { client } = await service.owner()
    const policy = await aPolicy(client, { name: 'Slow', autoApproveLimitEuros: 50 })
    const { page, complaints } = await openAsOwner(client)
    const typed = Promise.withResolvers<void>()
    await page.route('**/policy-form*.js', async route => {
      await typed.promise
      await route.continue()
    })
    await page.goto(new URL(`console/policies/${policy.id}`, page.url()).href, { waitUntil: 'commit' })
    await page.locator('#try-amount').fill('30')
    typed.resolve()
    await page
      .locator('[data-result]')
      .getByText('within the auto-approve limit of € 50.00')
      .first()
      .waitFor()
    expect(complaints).toEqual([])
  })
})

describe('the page of an agent', () => {
  test('says its limits in words and changes them, without the other rules', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { name: 'Books', dailyLimitEuros: 1_000, cooldownMinutes: 5 })
    const { page, complaints } = await openAsOwner(client)
    await page.goto(new URL(`console/agents/${agent.id}`, page.url()).href)
    await page.getByText('Up to €\u00a01,000 a day.').first().waitFor()
    await page.locator('button[commandfor]', { hasText: 'Change limits' }).click()
    await page.getByLabel('Per payment (€)').fill('400')
    await page.getByText('Up to €\u00a0400 per payment, €\u00a01,000 a day.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Change limits' }).click()
    await page.locator('#news').filter({ hasText: 'Saved.' }).waitFor()
    await page.getByText('Up to €\u00a0400 per payment').first().waitFor()
    const policy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    expect(policy).toMatchObject({ maxTransactionEuros: 400, dailyLimitEuros: 1_000, cooldownMinutes: 5 })
    expect(complaints).toEqual([])
  })

  test('says the limits that are typed, also after the agent has changed meanwhile', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { name: 'Books', dailyLimitEuros: 1_000 })
    const { page, complaints } = await openAsOwner(client)
    await page.goto(new URL(`console/agents/${agent.id}`, page.url()).href)
    await page.locator('button[commandfor]', { hasText: 'Change limits' }).click()
    await page.getByLabel('Per payment (€)').fill('400')
    const typed = page.locator('form .says').getByText('Up to €\u00a0400 per payment, €\u00a01,000 a day.')
    await typed.waitFor()
    await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: {} }))
    await page.locator('main .status').getByText('frozen').first().waitFor()
    await typed.waitFor()
    expect(await page.getByLabel('Per payment (€)').inputValue()).toBe('400')
    expect(complaints).toEqual([])
  })

  test('shows what every limit leaves, and marks the smallest', async () => {
    const { owner, read } = await aVisitor()
    const agent = await anAgentUnder(owner.client, {
      name: 'Books',
      dailyLimitEuros: 100,
      autoApproveLimitEuros: 100,
    })
    await anIntent(owner.client, agent.id, { amountEuros: 30 })
    await bodyOf(owner.client.runs.create({ body: { agentId: agent.id, name: 'Review', budgetEuros: 40 } }))
    const overview = (await read(`console/agents/${agent.id}`)).text
    const { text } = await read(`console/agents/${agent.id}?tab=limits`)
    expect(text).toMatch(
      /Limits <bdi>Books<\/bdi><\/a>[\s\S]*?today[\s\S]*?€\s30\.00<\/data> of[\s\S]*?€\s100\.00[\s\S]*?€\s70\.00/,
    )
    expect(text).toMatch(/Run <bdi>Review<\/bdi><\/a> <span class="status waiting">smallest/)
    expect(text.split('smallest')).toHaveLength(2)
    expect(overview).toMatch(/<bdi>Books<\/bdi><\/a>, from <a href="[^"]*policies\/policy_\w+">its template/)
    expect(text).toMatch(/data-operation="POST \/agents\/\{id\}\/tokens"[^>]* data-secret="token"/)
    const list = (await read('console/agents')).text
    expect(list).toMatch(/€\s30\.00<\/data> of <data[^>]*>€\s100\.00<\/data><svg[^>]*><rect width="30"/)
  })
})
