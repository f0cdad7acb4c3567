import { expect, test } from '@jest/globals'
import { anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { type InConsole, nameDeputy, peopleInConsole } from '../../support/identity/in-console.ts'
import { signed } from '../../support/identity/people.ts'
import { german, readPage, service } from './pages-service.ts'

const step = { aboveEuros: 20, of: 'owners', need: 1, withinMinutes: 240, then: 'deny' } as const

type Rules = Parameters<typeof anAgentUnder>[1]

/** An approver, and after a while an owner as well; then an owner. */
const usual = (): Rules => ({ approval: [{ ...step, of: 'approvers', then: 'next' }, step] })

async function aTeam(rulesFor: (people: { readonly boss: InConsole }) => Rules = usual) {
  const owner = await service.owner()
  const people = await peopleInConsole(service, owner, ['owner', 'approver', 'approver'])
  const [boss, first, second] = people as [InConsole, InConsole, InConsole]
  const agent = await anAgentUnder(owner.client, rulesFor({ boss }))
  const approve = async ({ client, device }: InConsole, id: string) => {
    const challenge = await bodyOf(client.intents.challenge({ params: { intentId: id }, body: {} }))
    const webauthnAssertion = signed(challenge, device)
    await bodyOf(client.intents.approve({ params: { id }, body: { webauthnAssertion } }))
  }
  return { ...owner, boss, first, second, agent, approve }
}

const wordsOf = async ({ headers }: InConsole, path: string, language = {}) =>
  (await (await readPage(path, { ...headers, ...language })).text())
    .replace(/<time[^>]*>[^<]*<\/time>/g, 'AT')
    .replace(/[\u2068\u2069]/g, '')
    .replace(/<[^>]+>/g, '')

test('the page of an intent that several people approve says who has, and who is asked until when', async () => {
  const { client, boss, first, agent, approve } = await aTeam()
  const { id } = await anIntent(client, agent.id)
  const read = (language = {}) => wordsOf(boss, `/approve/${id}`, language)
  expect(await read()).toContain(
    '0 of 2 approvals. Approvers are asked until AT, then owners are asked as well.',
  )
  expect(await read(german)).toContain(
    '0 von 2 Freigaben. Bis AT sind Freigeber gefragt, danach sind auch Inhaber gefragt.',
  )
  await approve(first, id)
  expect(await read()).toContain(
    `1 of 2 approvals. Approved by ${first.name}, AT. Owners are asked until AT, then it is denied.`,
  )
  const inGerman = await read(german)
  expect(inGerman).toContain(
    `1 von 2 Freigaben. Freigegeben von ${first.name}, AT. Bis AT sind Inhaber gefragt, danach wird abgelehnt.`,
  )
  expect(inGerman).toContain(
    'Freigabestufen Die Richtlinie verlangt für diesen Betrag Freigaben bestimmter Personen',
  )
  expect(await wordsOf(boss, '/approve')).toContain('expires AT. 1 of 2 approvals.')
  await approve(boss, id)
  expect(await read()).toContain(
    `2 of 2 approvals. Approved by ${first.name}, AT. Approved by ${boss.name}, AT.`,
  )
})

test('who is not asked, has approved or asked for the payment reads why in the place of the button', async () => {
  const { client, boss, first, second, agent, approve } = await aTeam()
  const APPROVE = 'Approve with passkey'
  const own = await anIntent(boss.client, agent.id)
  const ofBoss = await wordsOf(boss, `/approve/${own.id}`)
  expect(ofBoss).toContain('You have asked for this payment yourself. Other people must approve it.')
  expect(ofBoss).not.toContain(APPROVE)
  const { id } = await anIntent(client, agent.id)
  expect(await wordsOf(first, `/approve/${id}`)).toContain(APPROVE)
  await approve(first, id)
  const given = await wordsOf(first, `/approve/${id}`, german)
  expect(given).toContain('Ihre Freigabe liegt vor')
  expect(given).not.toContain('Mit Passkey freigeben')
  expect(await wordsOf(second, `/approve/${id}`)).toContain('The policy does not ask you now.')
  expect(await wordsOf(boss, `/approve/${id}`)).toContain(APPROVE)
})

test('the page says that the payment expires where it does so before the step ends', async () => {
  const { client, boss, agent } = await aTeam(() => ({ approval: [{ ...step, withinMinutes: 2_880 }] }))
  const { id } = await anIntent(client, agent.id)
  expect(await wordsOf(boss, `/approve/${id}`)).toContain('Owners are asked until AT, then it expires.')
  expect(await wordsOf(boss, `/approve/${id}`, german)).toContain(
    'Bis AT sind Inhaber gefragt, danach läuft die Anfrage ab.',
  )
  expect(await wordsOf(boss, `/console/intents/${id}`)).toContain(
    'Owners are asked until AT, then it expires.',
  )
})

test('the page names no one as asked where only who asked for the payment could approve it', async () => {
  const { boss, first, agent } = await aTeam(({ boss: { personId } }) => ({
    approval: [{ ...step, of: [personId] }],
  }))
  const { id } = await anIntent(boss.client, agent.id)
  const words = await wordsOf(first, `/approve/${id}`)
  expect(words).toContain('0 of 1 approval.')
  expect(words).not.toContain('asked until')
})

test('the page says in whose place a deputy has approved', async () => {
  const { client, boss, first, second, agent, approve } = await aTeam()
  const { id } = await anIntent(client, agent.id)
  await approve(second, id)
  await nameDeputy(boss, first, { by: second })
  await approve(first, id)
  expect(await wordsOf(boss, `/approve/${id}`)).toContain(
    `2 of 2 approvals. Approved by ${second.name}, AT. Approved by ${first.name} in place of ${boss.name}, AT.`,
  )
  expect(await wordsOf(boss, `/approve/${id}`, german)).toContain(
    `Freigegeben von ${first.name} in Vertretung von ${boss.name}, AT.`,
  )
})

test('the page does not say that a person has approved whose deputy did', async () => {
  const { client, boss, first, second, agent, approve } = await aTeam(() => ({
    approval: [step, { ...step, of: 'approvers' }],
  }))
  await nameDeputy(boss, first, { by: second })
  const { id } = await anIntent(client, agent.id)
  await approve(first, id)
  expect(await wordsOf(boss, `/approve/${id}`)).toContain(
    'Your approval, or that of the person whose deputy you are, is given. Other people must approve as well.',
  )
  expect(await wordsOf(boss, `/approve/${id}`, german)).toContain(
    'Ihre Freigabe liegt vor, oder die der Person, die Sie vertreten. Andere müssen ebenfalls freigeben.',
  )
  expect(await boss.client.intents.challenge({ params: { intentId: id }, body: {} })).toMatchObject({
    error:
      'Your approval, or that of the person whose deputy you are, is given already. It waits for other people.',
  })
})

test('the page says in its language that too few have approved in time', async () => {
  const { client, boss, agent } = await aTeam()
  const { id } = await anIntent(client, agent.id)
  await bodyOf(client.sandbox.advance({ body: { minutes: 500 } }))
  expect(await wordsOf(boss, `/approve/${id}`)).toContain(
    'Comment: Too few people have approved in time, or are left who can.',
  )
  const inGerman = await wordsOf(boss, `/approve/${id}`, german)
  expect(inGerman).toContain('Kommentar: Zu wenige haben rechtzeitig freigegeben oder können es noch.')
  expect(inGerman).not.toContain('people')
})

test('the page of a payment whose step has just ended does not say that another person has decided', async () => {
  const { client, boss, agent } = await aTeam(() => ({ approval: [step] }))
  const { id } = await anIntent(client, agent.id)
  const end = `update intents set approval = jsonb_set(approval, '{beganAt}', '"2020-01-01T00:00:00.000Z"') where id = $1`
  await service.sql(end, [id])
  const words = await wordsOf(boss, `/approve/${id}`)
  expect(words).toContain('This intent no longer waits for a decision.')
  expect(words).not.toContain('Another person')
})

test('the German page of a payment that the policy would approve by itself does not say that every payment waits', async () => {
  const { boss, agent } = await aTeam(() => ({ autoApproveLimitEuros: 100 }))
  const { id } = await anIntent(boss.client, agent.id)
  expect(await wordsOf(boss, `/approve/${id}`)).toContain('what is declared in the console')
  expect(await wordsOf(boss, `/approve/${id}`, german)).toContain(
    'Limit für automatische Freigabe Diese Zahlung benötigt die Freigabe einer Person.',
  )
})
