import type { Page } from 'playwright-core'
import { aPolicy, bodyOf } from '../../support/factories.ts'
import { pay } from '../../support/insight/paying.ts'
import { connectAssistant, type service } from './visitors.ts'

/** Markup, the end of a script, a bidirectional control, template braces, and an endless word. */
const hostile = `<img src=x onerror=alert(1)></script>\u202e"'&{{7*7}}🎈${'w'.repeat(120)}`

/** An account with hostile text everywhere, and a record of most kinds. */
export async function aHostileAccount(owner: Awaited<ReturnType<typeof service.owner>>): Promise<void> {
  const { client } = owner
  const { id: policyId } = await aPolicy(client, { name: hostile, autoApproveLimitEuros: 20 })
  const agent = await bodyOf(
    client.agents.create({
      body: {
        name: hostile,
        description: hostile,
        externalId: hostile,
        policyId,
        metadata: { note: hostile },
      },
    }),
  )
  const agentId = agent.id
  const { id: copyId } = await bodyOf(client.policies.effective({ params: { agentId } }))
  const step = { aboveEuros: 100, of: 'owners', need: 1, withinMinutes: 60, then: 'deny' } as const
  const rules = { name: hostile, autoApproveLimitEuros: 20, approval: [step] }
  for (const id of [policyId, copyId]) await bodyOf(client.policies.replace({ params: { id }, body: rules }))
  const wallet = await bodyOf(client.wallets.create({ body: { name: hostile } }))
  await bodyOf(client.fund.wallet({ params: { id: wallet.id }, body: { amountEuros: 100 } }))
  await bodyOf(
    client.agents.fund({ params: { id: agentId }, body: { amountEuros: 50, fromWalletId: wallet.id } }),
  )
  const run = await bodyOf(client.runs.create({ body: { agentId, name: hostile, budgetEuros: 90 } }))
  for (const amountEuros of [25, 5])
    await bodyOf(
      client.intents.create({
        body: { agentId, amountEuros, merchant: hostile, purpose: hostile, runId: run.id },
      }),
    )
  const { intent } = await pay({ client, agent, shopId: wallet.id }, 4, { purpose: hostile })
  await bodyOf(
    client.outcomes.create({ body: { intentId: intent.id, success: true, valueEuros: 9, note: hostile } }),
  )
  await Promise.all([
    bodyOf(
      client.delegations.create({
        body: { agentId, maxAmountEuros: 10, expiresInMinutes: 60, label: hostile },
      }),
    ),
    bodyOf(
      client.agentTokens.create({ params: { id: agentId }, body: { label: hostile, maxAmountEuros: 5 } }),
    ),
    bodyOf(client.cardRequests.create({ body: { type: 'new_card', agentId, limits: {}, reason: hostile } })),
    bodyOf(client.keys.create({ body: { name: hostile, environment: 'test' } })),
    bodyOf(
      client.collect.create({
        body: {
          walletId: wallet.id,
          amountEuros: 12,
          description: hostile.slice(0, 130),
          expiresInHours: 24,
        },
      }),
    ),
  ])
  await connectAssistant(owner, agentId, hostile)
  await bodyOf(client.agents.freeze({ params: { id: agentId }, body: { reason: hostile } }))
}

/** Linked pages, one of each kind: `agents`, `agents/x`. */
export async function linksOn(page: Page): Promise<(readonly [kind: string, url: string])[]> {
  const links = (await page.evaluate(
    '[...document.querySelectorAll("a[href]:not([download])")].map(({ href }) => href)',
  )) as string[]
  return links.flatMap(link => {
    const [, top, section, id] = new URL(link).pathname.split('/')
    if (top !== 'console' || section === undefined) return []
    return [[id === undefined ? section : `${section}/x`, link] as const]
  })
}
