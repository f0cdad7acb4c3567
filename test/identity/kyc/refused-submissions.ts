import { describe, expect, test } from '@jest/globals'
import { aKey, anAgent, aToken, bodyOf } from '../../support/factories.ts'
import {
  aDocument,
  anIndividual,
  aSubmission,
  personNamed,
  settle,
  torstrasse,
} from '../../support/identity/kyc.ts'
import { service } from './kyc-service.ts'

describe('a submission', () => {
  test.each([
    ['without a name', { name: ' ' }, 'name'],
    ['with a name of 201 characters', { name: 'x'.repeat(201) }, 'name'],
    ['with a date that is none', { dateOfBirth: '1985-02-30' }, 'dateOfBirth'],
    ['of somebody born before 1900', { dateOfBirth: '1899-12-31' }, 'dateOfBirth'],
    ['of a child', { dateOfBirth: '2020-01-01' }, 'dateOfBirth'],
    ['of a country that does not exist', { nationality: 'XX' }, 'nationality'],
    ['without a city', { address: { ...torstrasse, city: '' } }, 'address.city'],
    ['without documents', { documentIds: [] }, 'documentIds'],
    ['with a member of its own', { status: 'verified' }, 'status'],
  ])('%s is refused, and nothing has changed', async (_, members, member) => {
    const { client: owner, key, ownerId } = await anIndividual(service)
    const body = { ...(await personNamed(owner, 'Ada Lovelace')), ...members }
    const answer = await service.http('POST', '/kyc/submissions', { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(member)
    expect(await service.sql('select 1 from kyc_submissions where owner_id = $1', [ownerId])).toEqual([])
    expect((await bodyOf(owner.customers.me())).kycStatus).toBe('none')
  })

  test('needs a passport, or both sides of an identity card', async () => {
    const { client: owner } = await anIndividual(service)
    const front = (await aDocument(owner, 'identity_card_front')).id
    const back = (await aDocument(owner, 'identity_card_back')).id
    const proof = (await aDocument(owner, 'proof_of_address')).id
    const send = async (documents: string[]) => {
      const { status, code, error } = await owner.kyc.create({
        body: await personNamed(owner, 'Ada', { documentIds: documents }),
      })
      return code ? `${code}: ${error}` : status
    }
    expect(await send([proof])).toContain('a passport is missing, or both sides')
    expect(await send([front, proof])).toContain('documents_missing: documentIds: the back')
    expect(await send([back])).toContain('documents_missing: documentIds: the front')
    expect(await send([front, front])).toContain('each document once')
    expect(await send([front, back, proof])).toBe(201)
  })

  test('takes only documents of the owner that no submission has', async () => {
    const { client: owner } = await anIndividual(service)
    const other = await anIndividual(service)
    const foreign = (await aDocument(other.client)).id
    const code = async (documents: string[]) =>
      (await owner.kyc.create({ body: await personNamed(owner, 'Ada', { documentIds: documents }) })).code
    expect(await code([foreign])).toBe('document_not_found')
    expect(await code(['kycdocument_01jd8x2m4ye7k9v0c3q5r6t8wz'])).toBe('document_not_found')
    const used = (await aDocument(owner)).id
    await aSubmission(owner, 'Unreadable Ada', { documentIds: [used] })
    await settle(owner)
    expect(await code([used])).toBe('document_used')
  })

  test('is refused while another one is open, and once the person is verified', async () => {
    const { client: owner } = await anIndividual(service)
    await aSubmission(owner, 'Later Ada')
    const again = async () => owner.kyc.create({ body: await personNamed(owner, 'Ada') })
    const open = await again()
    expect(open.code).toBe('submission_under_way')
    await settle(owner)
    await bodyOf(owner.sandbox.advance({ body: { days: 1 } }))
    expect((await again()).code).toBe('already_verified')
  })

  test('is refused once fifty came within a day', async () => {
    const { client: owner, ownerId } = await anIndividual(service)
    await aSubmission(owner, 'Unreadable Ada')
    await settle(owner)
    await service.sql(
      `insert into kyc_submissions select (jsonb_populate_record(null::kyc_submissions,
         to_jsonb(k) || jsonb_build_object('id', k.id || n))).* from kyc_submissions k, generate_series(1, 49) n
       where k.owner_id = $1`,
      [ownerId],
    )
    const again = async () => (await owner.kyc.create({ body: await personNamed(owner, 'Ada') })).code
    expect(await again()).toBe('too_many_submissions')
    await bodyOf(owner.sandbox.advance({ body: { days: 1 } }))
    expect(await again()).toBeUndefined()
  })

  test('of a company names a representative, and that of an individual none', async () => {
    const company = await service.owner()
    const code = async (body: Awaited<ReturnType<typeof personNamed>>, client: typeof company.client) =>
      (await client.kyc.create({ body })).code
    expect(await code(await personNamed(company.client, 'Ada'), company.client)).toBe(
      'representative_required',
    )
    const person = await anIndividual(service)
    const representativeId = 'representative_01jd8x2m4ye7k9v0c3q5r6t8wz'
    const body = await personNamed(person.client, 'Ada', { representativeId })
    expect(await code(body, person.client)).toBe('representative_not_found')
  })

  test('is for keys with the scope, and never for agents; others see nothing of it', async () => {
    const { client: owner } = await anIndividual(service)
    const { id } = await aSubmission(owner)
    const reader = service.client(String((await aKey(owner, { scopes: ['kyc:read'] })).key))
    expect((await reader.kyc.get({ params: { id } })).status).toBe(200)
    expect((await reader.kyc.upload({ body: { kind: 'passport', file: 'JVBERi0xLjQK' } })).code).toBe(
      'missing_scope',
    )
    const agent = await anAgent(owner)
    const token = service.client(String((await aToken(owner, agent.id)).token))
    expect((await token.kyc.list()).code).toBe('wrong_caller')
    const other = await anIndividual(service)
    expect((await other.client.kyc.get({ params: { id } })).code).toBe('submission_not_found')
    expect((await bodyOf(other.client.kyc.list())).data).toEqual([])
    expect((await owner.kyc.approve({ params: { id } })).code).toBe('wrong_caller')
  })
})
