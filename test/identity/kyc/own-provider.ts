import { describe, expect, test } from '@jest/globals'
import type {
  IdentityCheckStatus,
  IdentityVerification,
  UnansweredIdentityCheck,
} from '../../../src/ports/identity-verification.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import {
  aDocument,
  anIndividual,
  aSubmission,
  eventsOf,
  PDF,
  PNG,
  settle,
} from '../../support/identity/kyc.ts'

/** All calls of the provider, and its next answers; an error breaks the connection. */
const calls: { call: string; reference: string; name: string; files: string[] }[] = []
const answers: (IdentityCheckStatus | UnansweredIdentityCheck | Error)[] = []

const asked =
  (call: 'submit' | 'inquire'): IdentityVerification['submit'] =>
  async ({ reference, person, documents }) => {
    const files = await Promise.all(
      documents.map(async ({ kind, type, bytes }) => {
        const content = Buffer.from(await bytes()).toString('base64')
        return `${kind} ${type} ${content}`
      }),
    )
    calls.push({ call, reference, name: person.name, files })
    const answer = answers.shift() ?? 'late'
    if (answer instanceof Error) throw answer
    return answer
  }

const provider: IdentityVerification = {
  name: 'own',
  decider: 'provider',
  takesDocuments: true,
  page: null,
  redact: null,
  submit: asked('submit'),
  inquire: asked('inquire'),
  recognizes: () => false,
  read: () => ({ kind: 'unsigned', reason: 'It sends none.' }),
}

const service = await startTestService({ outside: { identityVerification: () => provider } })

describe('a provider of one’s own', () => {
  test('gets the person and the files, and is asked under one reference until it decides', async () => {
    const { client } = await anIndividual(service)
    const documentIds = [
      (await aDocument(client, 'identity_card_front', PNG)).id,
      (await aDocument(client, 'identity_card_back', PDF)).id,
    ]
    const { id } = await aSubmission(client, 'Ada Lovelace', { documentIds })
    answers.push(new Error('the line is dead'), 'unusable', { status: 'in_review' })
    answers.push({ status: 'in_review' }, { status: 'unknown' }, 'late', { status: 'verified' })
    await settle(client)
    expect(calls).toHaveLength(1)
    await bodyOf(client.sandbox.advance({ body: { minutes: 120 } }))
    expect(calls.map(({ call }) => call)).toEqual([
      'submit',
      'submit',
      'submit',
      'inquire',
      'inquire',
      'submit',
      'inquire',
    ])
    const files = [`identity_card_front image/png ${PNG}`, `identity_card_back application/pdf ${PDF}`]
    for (const call of calls) expect(call).toMatchObject({ reference: id, name: 'Ada Lovelace', files })
    expect(await bodyOf(client.kyc.get({ params: { id } }))).toMatchObject({
      status: 'verified',
      provider: 'own',
    })
    expect(await eventsOf(client, 'kyc.v')).toEqual(['kyc.verified'])
    expect(await eventsOf(client, 'kyc.in_review')).toEqual(['kyc.in_review'])
  })

  test('is called by one of many concurrent sweeps', async () => {
    calls.length = 0
    const { client } = await anIndividual(service)
    await aSubmission(client)
    answers.push({ status: 'verified' })
    await Promise.all([1, 2, 3].map(() => settle(client)))
    expect(calls).toHaveLength(1)
  })
})
