import { describe, expect, test } from '@jest/globals'
import { aCardRequest } from '../../support/cards/card-requests.ts'
import { signatureOverRequest } from '../../support/cards/several-approvers.ts'
import { anAgentUnder, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { type InConsole, peopleInConsole } from '../../support/identity/in-console.ts'
import { assertion, linkedChallenge, signed } from '../../support/identity/people.ts'

const service = await startTestService()

const twoOwners = { aboveEuros: 20, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' } as const

const APPROVE = 'data-operation="POST /change-requests/{id}/approve"'
const REJECT = 'data-operation="POST /change-requests/{id}/reject"'

/** Two owners and an approver, and a change of the limits of an agent that the first of them has proposed. */
async function aProposal(change: object) {
  const owner = await service.owner()
  const people = await peopleInConsole(service, owner, ['owner', 'owner', 'approver'])
  const [ada, bob, clerk] = people as [InConsole, InConsole, InConsole]
  const rules = { name: 'Books', dailyLimitEuros: 50, approval: [twoOwners] }
  const agent = await anAgentUnder(owner.client, rules)
  const policy = await bodyOf(owner.client.policies.effective({ params: { agentId: agent.id } }))
  const params = { id: policy.id }
  const body = { ...rules, ...change }
  const asked = await ada.client.policies.replace({ params, body })
  const challenge = await linkedChallenge(ada.client, asked)
  const proposed = await ada.client.policies.replace({
    params,
    body: { ...body, webauthnAssertion: signed(challenge, ada.device) },
  })
  expect(proposed.status).toBe(202)
  const read = async ({ headers }: InConsole, path: string) =>
    (await fetch(`${service.url}/${path}`, { headers: { ...headers, accept: 'text/html' } })).text()
  const { id: changeId } = proposed.body as { id: string }
  return { ...owner, ada, bob, clerk, agent, policy, changeId, read }
}

/** The words of an element, without its marks. */
const wordsIn = (text: string, pattern: RegExp): string =>
  (pattern.exec(text)?.[1] ?? '')
    .replace(/<time[^>]*>[^<]*<\/time>/g, 'AT')
    .replace(/<[^>]+>/g, '')
    .replace(/\u00a0/g, ' ')

const stepsIn = (text: string): string => wordsIn(text, /<p class="approvals">([\s\S]*?)<\/p>/)

const offers = (text: string) => ({ approve: text.includes(APPROVE), reject: text.includes(REJECT) })

describe('a change of limits that waits for several people', () => {
  test('is in the inbox, on the home page and in the badge, and who is not asked may approve only as a deputy', async () => {
    const { agent, ada, bob, clerk, read } = await aProposal({ dailyLimitEuros: 70 })
    const [seenByAda, seenByBob, seenByClerk] = (await Promise.all(
      [ada, bob, clerk].map(one => read(one, 'console/inbox?kind=changes')),
    )) as [string, string, string]
    expect(wordsIn(seenByBob, /<h2 id="changerequest_\w+-title">([\s\S]*?)<\/h2>/)).toBe(
      `Daily limit of ${agent.name}: € 50.00 → € 70.00`,
    )
    expect(stepsIn(seenByBob)).toBe(
      `1 of 2 approvals. ${ada.name} approved AT. Owners are asked until AT, then it expires.`,
    )
    expect(seenByBob).toMatch(/Changes <span class="count">1</)
    expect(offers(seenByBob)).toEqual({ approve: true, reject: true })
    expect(offers(seenByAda)).toEqual({ approve: false, reject: true })
    expect(seenByAda).toContain('You have approved this. Other people must approve it as well.')
    expect(seenByClerk).toContain('The policy does not ask you now.')
    expect([seenByAda, seenByBob, seenByClerk].map(text => text.includes('Approve as a deputy'))).toEqual([
      false,
      false,
      true,
    ])
    const home = await read(bob, 'console')
    expect(home).toContain('Needs you <span class="count">1<')
    expect(home).toContain('1 of 2 approvals')
    expect(home).toContain('<span class="badge">1<')
  })

  test('lists every change, on the page of the policy as well, and leaves both once it is rejected', async () => {
    const { bob, policy, changeId, read } = await aProposal({
      dailyLimitEuros: 70,
      approval: [{ ...twoOwners, aboveEuros: 40 }],
    })
    const pages = ['console/inbox', `console/policies/${policy.id}`]
    for (const page of pages) {
      const text = await read(bob, page)
      expect(wordsIn(text, /(<ul class="reasons">[\s\S]*?<\/ul>)/)).toMatch(
        /Daily limit of .*: € 50\.00 → € 70\.00/,
      )
      expect(offers(text)).toEqual({ approve: true, reject: true })
    }
    expect(await read(bob, 'console/inbox')).toContain('2 changes')
    await bodyOf(bob.client.changeRequests.reject({ params: { id: changeId }, body: { reason: 'Too high' } }))
    for (const page of pages) expect(offers(await read(bob, page))).toEqual({ approve: false, reject: false })
  })

  test('is announced by each form that may propose one', async () => {
    const { bob, policy, agent, client, read } = await aProposal({ dailyLimitEuros: 70 })
    const template = await bodyOf(client.policies.create({ body: { name: 'Template' } }))
    const pages = {
      [`console/policies/${policy.id}`]: 'PUT /policies/{id}',
      [`console/policies/${template.id}`]: 'POST /policies/{id}/apply',
      [`console/agents/${agent.id}`]: 'PUT /policies/agent/{agentId}',
      [`console/agents/${agent.id}?tab=limits`]: 'PUT /policies/{id}',
    }
    for (const [page, operation] of Object.entries(pages)) {
      const [, form] = (await read(bob, page)).split(`data-operation="${operation}"`)
      expect(form?.split('>')[0]).toContain('Proposed: {approval.given} of {approval.needed} approvals.')
    }
  })

  test('of who approves is on the page of the person, and announced by the forms that propose one', async () => {
    const { ada, bob, clerk, read } = await aProposal({ dailyLimitEuros: 70 })
    const { personId } = clerk
    const webauthnAssertion = await assertion(ada.client, ada, {
      purpose: 'invitation',
      subject: { personId, role: 'owner' },
    })
    const params = { id: personId }
    const proposed = await ada.client.people.update({ params, body: { role: 'owner', webauthnAssertion } })
    expect(proposed.status).toBe(202)
    const page = await read(bob, `console/people/${personId}`)
    expect(wordsIn(page, /(<ul class="reasons">[\s\S]*?<\/ul>)/)).toMatch(
      new RegExp(
        `^Role of ${clerk.name}: approver → owner\\s*Passkey of ${clerk.name}: none → “Phone”, enrolled`,
      ),
    )
    expect(offers(page)).toEqual({ approve: true, reject: true })
    expect(wordsIn(await read(bob, 'console/inbox'), /(<div class="queue">[\s\S]*)<h2 id="past"/)).toContain(
      `Role of ${clerk.name}: approver → owner`,
    )
    const [, form] = page.split('data-operation="PATCH /people/{id}"')
    expect(form?.split('>')[0]).toContain('Proposed: {approval.given} of {approval.needed} approvals.')
  })
})

describe('a card request that several people approve', () => {
  const APPROVE_CARD = 'data-operation="POST /card-requests/{id}/approve"'
  const formIn = (text: string): string | undefined => text.split(APPROVE_CARD)[1]?.split('</form>')[0]

  test('says who has approved and who is asked, and offers the approval to them, with the limits of the first', async () => {
    const { client, agent, ada, bob, clerk, read } = await aProposal({ dailyLimitEuros: 70 })
    const { id } = await aCardRequest(client, agent.id, { limits: { dailyLimitEuros: 50 } })
    const pages = ['console/inbox?kind=cards', `console/card-requests/${id}`]
    for (const page of pages) {
      const text = await read(ada, page)
      expect(stepsIn(text)).toBe('0 of 2 approvals. Owners are asked until AT, then it is denied.')
      expect(formIn(text)).toContain('Recorded: {approval.given} of {approval.needed} approvals.')
    }
    expect(await read(ada, 'console/inbox?kind=cards')).toContain('is denied <time')
    const body = { limits: { dailyLimitEuros: 30 } }
    const webauthnAssertion = await signatureOverRequest(ada.client, id, ada, body)
    await bodyOf(ada.client.cardRequests.approve({ params: { id }, body: { ...body, webauthnAssertion } }))
    for (const page of pages) {
      const [seenByAda, seenByBob, seenByClerk] = (await Promise.all(
        [ada, bob, clerk].map(one => read(one, page)),
      )) as [string, string, string]
      expect(stepsIn(seenByBob)).toBe(
        `1 of 2 approvals. ${ada.name} approved AT. Owners are asked until AT, then it is denied.`,
      )
      expect(formIn(seenByBob)).toContain('name="limits.dailyLimitEuros" value="30"')
      expect(formIn(seenByAda)).toBeUndefined()
      expect(seenByAda).toContain('You have approved this. Other people must approve it as well.')
      expect(seenByClerk).toContain('The policy does not ask you now.')
      expect(formIn(seenByClerk)).toContain('Approve as a deputy')
    }
  })
})
