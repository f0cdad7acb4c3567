import { describe, expect, test } from '@jest/globals'
import {
  type ApprovalProof,
  verifyApproval,
  verifyAudit,
  verifyAuditGrowth,
  verifyAuditProof,
} from '../../src/derive/client.ts'
import { signWebhookHeaders, standardWebhookSecret } from '../../src/values/webhook-signature.ts'
import { anExport } from '../support/compliance/made-export.ts'
import { drawsOf, oddExport } from '../support/compliance/odd-exports.ts'
import { sealTrail } from '../support/compliance/trail.ts'
import { anApprovedIntent, approvalsIn } from '../support/control/approvals.ts'
import { manipulated, ofThree } from '../support/control/manipulated-proofs.ts'
import { keySet as severalKeySet } from '../support/control/several-approvals.ts'
import { aBeneficiary, anAgent, bodyOf } from '../support/factories.ts'
import { keySet, runProgram, service, verdictsOn } from './python-service.ts'

/** What TypeScript says of the proof: what is proven, or the name of the error. */
function verdictOf(proof: ApprovalProof, keys: unknown): unknown {
  try {
    return verifyApproval(proof, keys as never)
  } catch (error) {
    return [(error as Error).constructor.name, null]
  }
}

describe('a proof is judged in Python as in TypeScript', () => {
  test('of an approval by passkey', async () => {
    const { anApprover } = approvalsIn(service)
    const { client, agent, person } = await anApprover({ amountTolerancePercent: 10 })
    const beneficiary = await aBeneficiary(client)
    const intent = await anApprovedIntent(client, agent.id, person, { beneficiaryId: beneficiary.id })
    const proof: ApprovalProof = await bodyOf(client.intents.approval({ params: { id: intent.id } }))
    const keys = await keySet()
    const [header, claims = '', signature = ''] = proof.jws.split('.')
    const changed = Buffer.from(Buffer.from(claims, 'base64url').toString().replace('25.00', '26.00'))
    const openings = { ...proof.openings, 'payee.name': { value: 'Another', salt: 'x' } }
    const cases = [
      [proof, keys],
      [{ ...proof, openings }, keys],
      [{ ...proof, jws: [header, changed.toString('base64url'), signature].join('.') }, keys],
      [{ ...proof, jws: `${header}.${claims}.${signature.slice(0, -2)}AA` }, keys],
      [proof, { keys: [] }],
    ] as const
    const expected = cases.map(([one, set]) => verdictOf(one, set))
    expect(expected[0]).toMatchObject({ intentId: intent.id, person: { name: 'Ada Lovelace' } })
    expect(await verdictsOn('verify_approval(*case)', cases)).toEqual(expected)
  })

  test('of several approvals by passkeys', async () => {
    const proofs = [
      ofThree,
      { ...ofThree, openings: {} },
      { ...ofThree, jws: ofThree.jws.replace(/.$/, last => (last === 'A' ? 'Q' : 'A')) },
      ...manipulated.map(([, proof]) => proof),
    ]
    const verdicts = await verdictsOn(
      'verify_approval(*case)',
      proofs.map(proof => [proof, severalKeySet]),
    )
    const expected = proofs.map(proof => verdictOf(proof, severalKeySet))
    expect(expected[0]).toMatchObject({ approvals: [{}, {}, { person: { name: 'Alan Turing' } }] })
    expect(expected.filter(Array.isArray)).toHaveLength(manipulated.length + 1)
    expect(verdicts).toEqual(expected)
  })

  test('of an audit trail, whole and tampered with', async () => {
    const owner = await service.owner()
    const agent = await anAgent(owner.client, { name: 'Bäckerei 🥐' })
    await sealTrail(service)
    const { note } = await bodyOf(owner.client.audit.checkpoint())
    await owner.client.agents.freeze({ params: { id: agent.id }, body: { reason: '1e400 “quoted”\u2028' } })
    await sealTrail(service)
    const text = (await service.http('GET', '/v1/audit/export', { token: owner.key })).text
    const part = (await service.http('GET', `/v1/audit/export?resource=${agent.id}`, { token: owner.key }))
      .text
    const keys = await keySet()
    const lines = text.split('\n')
    const cases = [
      { text, keys, since: note },
      { text, since: note },
      { text: part, keys, since: note },
      { text: text.replace('agent.frozen', 'agent.thawed'), keys },
      { text: text.replace('Bäckerei', 'Backerei'), keys },
      { text: [...lines.slice(0, 2), ...lines.slice(3)].join('\n'), keys },
      { text: text.replace('"position":1', '"position":1.00000000000000000001'), keys },
      { text: text.replace('"commitments":{}', '"commitments":{"data.nothing.there":"AA=="}'), keys },
      { text: `${lines[0]}\n`, keys },
      { text, keys: { keys: [] } },
      { text: '', keys },
      { text, keys, since: note.replace(/^(.*\n)\d+/, '$1999') },
    ]
    const expected = await Promise.all(
      cases.map(({ text, ...options }) =>
        verifyAudit([text], options).catch(error => [error.constructor.name, error.position]),
      ),
    )
    expect(expected[0]).toMatchObject({ ownerId: owner.ownerId, hidden: 0 })
    const call = 'verify_audit([case["text"]], keys=case.get("keys"), since=case.get("since"))'
    expect(await verdictsOn(call, cases)).toEqual(expected)
  })

  test('of exports with odd lines, bytes and members', async () => {
    const { lines, keys, since } = anExport()
    const cases = Array.from({ length: 400 }, (_, seed) => {
      const draw = drawsOf(seed)
      const file = oddExport(lines, draw).toString('base64')
      return { file, ...(draw(4) > 0 && { keys }), ...(draw(2) > 0 && { since }) }
    })
    const expected = await Promise.all(
      cases.map(({ file, ...options }) =>
        verifyAudit([Buffer.from(file, 'base64')], options).catch(error => [
          error.constructor.name,
          error.position,
        ]),
      ),
    )
    expect(expected.filter(verdict => !Array.isArray(verdict)).length).toBeGreaterThan(20)
    const content = '[__import__("base64").b64decode(case["file"])]'
    const call = `verify_audit(${content}, keys=case.get("keys"), since=case.get("since"))`
    expect(await verdictsOn(call, cases)).toEqual(expected)
  })

  test('of single entries, and of the growth of a trail from every size that it had', async () => {
    const owner = await service.owner()
    const kept: { size: number; note: string }[] = []
    for (let n = 0; n < 9; n++) {
      await anAgent(owner.client)
      await sealTrail(service)
      const { size, note } = await bodyOf(owner.client.audit.checkpoint())
      kept.push({ size, note })
    }
    const keys = await keySet()
    const entries = (await bodyOf(owner.client.audit.list())).data.toReversed()
    const proofs = await Promise.all(
      entries.map(({ id }) => bodyOf(owner.client.audit.proof({ params: { id } }))),
    )
    const [first] = proofs
    const stranger = await service.owner()
    await sealTrail(service)
    const foreign = (await bodyOf(stranger.client.audit.checkpoint())).note
    const oneProof = { ...first, proof: first?.proof ?? [] }
    const inclusions: unknown[][] = [
      ...proofs.map(proof => [proof, keys]),
      [{ ...oneProof, leaf: String(first?.leaf).replace('customer', 'cust0mer') }, keys],
      [{ ...oneProof, position: Number(first?.position) + 1 }, keys],
      [{ ...oneProof, position: null }, keys],
      [{ ...oneProof, position: -1 }, keys],
      [{ ...oneProof, proof: oneProof.proof.slice(1) }, keys],
      [{ ...oneProof, proof: oneProof.proof.map(text => `${text} `) }, keys],
      [{ ...oneProof, checkpoint: kept[0]?.note }, keys],
      [{ ...oneProof, checkpoint: foreign }, keys],
      [oneProof, { keys: [] }],
    ]
    const judged = (verify: (...given: never[]) => unknown, cases: readonly unknown[][]) =>
      cases.map(given => {
        try {
          return verify(...(given as never[]))
        } catch (error) {
          return [(error as Error).constructor.name, (error as { position: unknown }).position]
        }
      })
    const included = judged(verifyAuditProof, inclusions)
    expect(included.slice(0, proofs.length)).toMatchObject(entries.map(({ id }) => ({ id })))
    expect(await verdictsOn('verify_audit_proof(*case)', inclusions)).toEqual(included)

    const growths = await Promise.all(
      kept.map(async ({ size, note }) => ({
        note,
        growth: await bodyOf(owner.client.audit.consistency({ query: { from: size } })),
      })),
    )
    const grown: unknown[][] = growths.flatMap(({ note, growth }, n) => [
      [note, growth, keys],
      [note, { ...growth, proof: growth.proof.slice(1) }, keys],
      [note, { ...growth, proof: [...growth.proof, first?.proof[0]] }, keys],
      [note, { ...growth, proof: growth.proof.toReversed() }, keys],
      [kept[(n + 1) % kept.length]?.note, growth, keys],
      [foreign, growth, keys],
      [note, { ...growth, checkpoint: null }, keys],
    ])
    const verdicts = judged(verifyAuditGrowth, grown)
    expect(verdicts.filter(verdict => typeof verdict === 'number').length).toBeGreaterThanOrEqual(kept.length)
    expect(await verdictsOn('verify_audit_growth(*case)', grown)).toEqual(verdicts)
  })

  test('of a webhook', async () => {
    const body =
      '{"event":"agent.frozen","createdAt":"2026-11-20T09:30:00.000Z","data":{"merchant":"Bäckerei 🥐"}}'
    const deliveryId = 'delivery_01jd8x2m4ye7k9v0c3q5r6t8wz-1.274877906944'
    const message = { deliveryId, eventId: 'event_1', event: 'agent.frozen', body, requestId: 'request-1' }
    const at = new Date()
    const now = at.getTime() / 1_000
    const headers = signWebhookHeaders({ ...message, at }, { current: 'whsec_old', next: 'whsec_new' })
    const cases = [
      { headers, body, secret: 'whsec_old', now },
      { headers, body, secret: 'whsec_new', now },
      { headers, body, secret: 'whsec_other', now },
      { headers, body: `${body} `, secret: 'whsec_old', now },
      { headers, body, secret: 'whsec_old', now: now + 400 },
      { headers: {}, body, secret: 'whsec_old', now },
    ]
    const call = 'verify_webhook(case["headers"], case["body"], case["secret"], now=case["now"])'
    const verdicts = await verdictsOn(call, cases)
    const genuine = {
      ...JSON.parse(body),
      eventId: 'event_1',
      id: deliveryId.replace('-1.274877906944', ''),
      deliveryId,
    }
    const rejected = ['WebhookRejected', null]
    expect(verdicts).toEqual([genuine, genuine, rejected, rejected, rejected, rejected])
  })
  test('of a webhook, by the library of Standard Webhooks', async () => {
    const body = '{"event":"agent.frozen","data":{"merchant":"Bäckerei 🥐"}}'
    const message = { deliveryId: 'delivery_1-1.2', eventId: 'event_1', event: 'agent.frozen', body }
    const headersFor = (current: string, next: string | null) =>
      signWebhookHeaders({ ...message, requestId: 'request-1', at: new Date() }, { current, next })
    const [old, next] = [standardWebhookSecret('whsec_old'), standardWebhookSecret('whsec_new')]
    const rotating = headersFor('whsec_old', 'whsec_new')
    const cases = [
      { headers: headersFor('whsec_old', null), body, secret: old },
      { headers: rotating, body, secret: old },
      { headers: rotating, body, secret: next },
      { headers: headersFor('whsec_old', null), body, secret: next },
      { headers: rotating, body: `${body} `, secret: next },
    ]
    const program = `import json
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
def verdict(case):
    try:
        return Webhook(case["secret"]).verify(case["body"], case["headers"])["event"]
    except WebhookVerificationError:
        return "rejected"
print(json.dumps([verdict(case) for case in json.load(open("input.json"))]))`
    const verdicts = JSON.parse(await runProgram(program, cases))
    expect(verdicts).toEqual(['agent.frozen', 'agent.frozen', 'agent.frozen', 'rejected', 'rejected'])
  })
})
