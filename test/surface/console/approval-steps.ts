import { describe, expect, test } from '@jest/globals'
import { sentence } from '../../../src/surface/console/scripts/sentence.js'
import { approvalStepInWords } from '../../../src/values/approval-steps.ts'
import { anAgentUnder, anIntent, aPolicy, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { type InConsole, nameDeputy, peopleInConsole } from '../../support/identity/in-console.ts'
import { signed } from '../../support/identity/people.ts'

const service = await startTestService()

const APPROVE = 'data-operation="POST /intents/{id}/approve"'

const step = { aboveEuros: 20, of: 'owners', need: 1, withinMinutes: 240, then: 'deny' } as const

async function aTeam(approval: object[] | ((people: readonly InConsole[]) => object[])) {
  const owner = await service.owner()
  const people = await peopleInConsole(service, owner, ['owner', 'approver', 'approver'])
  const steps = typeof approval === 'function' ? approval(people) : approval
  const agent = await anAgentUnder(owner.client, { approval: steps as never })
  const intent = await anIntent(owner.client, agent.id)
  const read = async ({ headers }: InConsole, path: string) =>
    (await fetch(`${service.url}/${path}`, { headers: { ...headers, accept: 'text/html' } })).text()
  const approve = async ({ client, device }: InConsole) => {
    const challenge = await bodyOf(client.intents.challenge({ params: { intentId: intent.id }, body: {} }))
    return bodyOf(
      client.intents.approve({
        params: { id: intent.id },
        body: { webauthnAssertion: signed(challenge, device) },
      }),
    )
  }
  const [boss, first, second] = people as [InConsole, InConsole, InConsole]
  return { ...owner, boss, first, second, agent, intent, read, approve }
}

/** The words of the line about the approvals, without its marks. */
const stepsIn = (text: string): string =>
  (/<p class="approvals">([\s\S]*?)<\/p>/.exec(text)?.[1] ?? '')
    .replace(/<time[^>]*>[^<]*<\/time>/g, 'AT')
    .replace(/<[^>]+>/g, '')

describe('an intent that several people approve', () => {
  test('says on its page and in the inbox who has approved, and who is asked until when', async () => {
    const { boss, first, second, intent, read, approve } = await aTeam([
      { ...step, of: 'approvers', then: 'next' },
      step,
    ])
    const pages = ['console/inbox', `console/intents/${intent.id}`]
    for (const page of pages)
      expect(stepsIn(await read(first, page))).toBe(
        '0 of 2 approvals. Approvers are asked until AT, then owners are asked as well.',
      )
    expect(await approve(first)).toMatchObject({ status: 'created' })
    for (const page of pages)
      expect(stepsIn(await read(boss, page))).toBe(
        `1 of 2 approvals. ${first.name} approved AT. Owners are asked until AT, then it is denied.`,
      )
    expect(await read(boss, 'console')).toContain('1 of 2 approvals')
    const said = await Promise.all([boss, first, second].map(one => read(one, 'console/inbox')))
    expect(said.map(text => text.includes(APPROVE))).toEqual([true, false, false])
    expect(said[1]).toContain('You have approved this. Other people must approve it as well.')
    expect(said[2]).toContain('The policy does not ask you now.')
    await approve(boss)
    expect(stepsIn(await read(boss, `console/intents/${intent.id}`))).toBe(
      `2 of 2 approvals. ${first.name} approved AT. ${boss.name} approved AT.`,
    )
  })

  test('leads a deputy to the page where they approve, and says in whose place they did', async () => {
    const { boss, second, intent, read, approve } = await aTeam([step])
    await nameDeputy(boss, second)
    const link = `Are you a deputy? <a href="../approve/${intent.id}">Approve there</a>`
    expect(await read(second, 'console/inbox')).toContain(link)
    expect(await read(second, `approve/${intent.id}`)).toContain('Approve with passkey')
    expect(await approve(second)).toMatchObject({ status: 'approved' })
    expect(stepsIn(await read(boss, `console/intents/${intent.id}`))).toBe(
      `1 of 1 approval. ${second.name} approved in place of ${boss.name} AT.`,
    )
  })

  test('names the people who are asked by name, and says when the step ends', async () => {
    const { first, second, read } = await aTeam(([, one, other]) => [
      { ...step, of: [one?.personId, other?.personId], need: 2, withinMinutes: 30 },
    ])
    const text = await read(second, 'console/inbox')
    expect(stepsIn(text)).toBe(
      `0 of 2 approvals. ${first.name} and ${second.name} are asked until AT, then it is denied.`,
    )
    expect(text).toMatch(/, is denied <time/)
  })
})

const says = { parts: ['{approval}'], otherwise: 'One person approves' }

describe('the steps of a policy', () => {
  test('are read back in a sentence, as the API says them', () => {
    const named = ['person_1', 'person_2', 'person_3']
    const steps = [
      { aboveEuros: 20.5, of: 'owners', need: 2, withinMinutes: 240, then: 'next' },
      { aboveEuros: 30.25, of: 'approvers', need: 1, withinMinutes: 60, then: 'next' },
      { aboveEuros: 1_000.75, of: named, need: 2, withinMinutes: 1_440, then: 'next' },
      { aboveEuros: 1_000.75, of: 'owners', need: 1, withinMinutes: 45, then: 'deny' },
    ] as const
    const words = steps
      .map(({ aboveEuros, of, ...step }) => ({
        ...step,
        of: typeof of === 'string' ? of : [...of],
        aboveCents: String(aboveEuros * 100),
      }))
      .map(approvalStepInWords)
      .join('; ')
    const withHundredths = (text: string) => text.replace(/\u00a0/g, ' ').replace('20.50', '20.5')
    expect(withHundredths(sentence(says, { approval: steps }))).toBe(
      withHundredths(`${words.charAt(0).toUpperCase()}${words.slice(1)}.`),
    )
    expect(sentence(says, { approval: [] })).toBe('One person approves.')
  })

  test('are fields of the policy, with the people who may approve, and said on the page of an agent', async () => {
    const { client, agent, boss, first, second, read } = await aTeam(([, one]) => [
      { ...step, of: [one?.personId], aboveEuros: 1_000 },
    ])
    const policy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    const text = await read(boss, `console/policies/${policy.id}`)
    const sentenceOf = 'Above €\u00a01,000: 1 of 1 named person within 4 hours, else deny.'
    expect(text).toContain(sentenceOf)
    expect(text).toMatch(/name="approval\.0\.aboveEuros" value="1000"/)
    for (const { personId } of [boss, first, second])
      expect(text).toContain(`name="approval.0.of" value="${personId}"`)
    expect(text).toContain(`value="${first.personId}" data-type="list" checked`)
    expect(text.match(/<fieldset class="item" hidden disabled>/g)).toHaveLength(3)
    expect(await read(boss, `console/agents/${agent.id}?tab=limits`)).toContain(sentenceOf)
    const other = await aPolicy(client, { name: 'Books' })
    expect(await read(boss, `console/policies/${other.id}`)).toContain('One person approves.')
  })
})
