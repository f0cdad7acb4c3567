import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { type ApprovalProof, verifyApproval, verifyAudit } from '../../src/derive/client.ts'
import { signedHeaders } from '../../src/values/webhook-signature.ts'
import { sealTrail } from '../support/compliance/trail.ts'
import { anApprovedIntent, approvalsIn } from '../support/control/approvals.ts'
import { aBeneficiary, anAgent, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { aBuyer, expectToPayAndReport } from '../support/packages/buyer.ts'
import { aPythonWithThePackage } from '../support/packages/python.ts'
import { launch } from '../support/processes/launched.ts'

const [service, { folder, python }] = await Promise.all([
  startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' } }),
  aPythonWithThePackage('mypy==1.18.2'),
])

const readme = readFileSync('src/packages/python/README.md', 'utf8')
const flow = /<!-- flow -->\n```python\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''

async function runProgram(text: string, input?: unknown): Promise<string> {
  writeFileSync(join(folder, 'program.py'), text)
  writeFileSync(join(folder, 'input.json'), JSON.stringify(input ?? null))
  const { key } = await service.owner()
  return python(['program.py'], { AGENTPAY_URL: service.url, AGENTPAY_KEY: key })
}

const told = {
  small: { status: 'approved', decidedBy: { type: 'policy' } },
  approved: { status: 'approved', comment: 'Go ahead' },
  refused: 'invalid_run',
  balance: { availableEuros: 25.5, heldEuros: 9.5 },
  proof: { ok: true, problems: [] },
}

/** The flow for the async client: each call is awaited, each list gone through as it comes. */
const asynchronous = `import asyncio
async def main() -> None:
${flow
  .replace('import AgentPay,', 'import AsyncAgentPay as AgentPay,')
  .replace(/pay\.(\w+)\.(?!list)(\w+)\(/g, 'await pay.$1.$2(')
  .replace('for one in pay.', 'async for one in pay.')
  .replace(/^/gm, '    ')}
asyncio.run(main())
`

describe('the package of Python, installed by pip in an empty folder', () => {
  test.each([
    ['sync', flow],
    ['async', asynchronous],
  ])('runs the flow of its README with the %s client', async (_, program) => {
    const answer = JSON.parse(await runProgram(program))
    expect(answer).toMatchObject(told)
    expect(answer.intents.map(([, status]: string[]) => status)).toEqual(['completed', 'approved'])
  })

  test('runs what the README of the project shows', async () => {
    const shown = /```python\n(from agentpay[\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))?.[1] ?? ''
    expect(await runProgram(shown)).toBe('agent.created\n')
  })

  test('is typed strictly, and holds a program to the contract', async () => {
    writeFileSync(join(folder, 'flow.py'), flow)
    writeFileSync(join(folder, 'asynchronous.py'), asynchronous)
    writeFileSync(
      join(folder, 'wrong.py'),
      `from agentpay import AgentPay
from agentpay.types import IntentsCreateCode
pay = AgentPay()
pay.intents.create({"amountEuros": 2, "purpose": "A page", "colour": "blue"})
pay.intents.create({"amountEuros": 2})
pay.intents.get(7)
pay.intents.destroy("intent_1")
code: IntentsCreateCode = "no_such_code"
text: str = pay.intents.get("intent_1")["amountEuros"]
`,
    )
    const mypy = (file: string): Promise<string> =>
      python(['-m', 'mypy', '--strict', '--python-version', '3.10', file]).catch(error => error.stdout)
    expect(await mypy('flow.py')).toContain('Success')
    expect(await mypy('asynchronous.py')).toContain('Success')
    const wrong = [...(await mypy('wrong.py')).matchAll(/^wrong\.py:(\d+): error/gm)].map(([, line]) => line)
    expect([...new Set(wrong)]).toEqual(['4', '5', '6', '7', '8', '9'])
  })

  test('gives files as bytes, follows events, waits and is refused as the one of TypeScript', async () => {
    const program = `import itertools, json
from agentpay import AgentPay, NoAnswer, Refused
pay = AgentPay()
agent = pay.agents.create({"name": "Reader"})
stream = pay.events.stream({"event": "agent.frozen"}, headers={"last-event-id": pay.events.list().page().data[0]["id"]})
pay.agents.freeze(agent["id"], {"reason": "Unusual"}, idempotency_key="freeze-1")
pay.agents.freeze(agent["id"], {"reason": "Unusual"}, idempotency_key="freeze-1")
frozen = [event["data"]["agentId"] for event in itertools.islice(stream, 1)]
try:
    pay.agents.get("agent_of_nobody")
except Refused as error:
    refused = [error.operation, error.status, error.code, error.request_id is not None]
try:
    AgentPay("http://127.0.0.1:1", "x", retries=0).agents.list().page()
except NoAnswer as error:
    unanswered = str(error)
for url in ("http://pay.example", "ftp://pay.example", ""):
    try:
        AgentPay(url or None).agents.list() if url else AgentPay("x://")
        raise SystemExit(f"{url} is taken")
    except ValueError:
        pass
print(json.dumps({"agent": agent["id"], "frozen": frozen, "refused": refused, "unanswered": unanswered}))
`
    const { agent, ...others } = JSON.parse(await runProgram(program))
    expect(others).toEqual({
      frozen: [agent],
      refused: ['agents.get', 404, 'agent_not_found', true],
      unanswered: expect.stringMatching(/^agents\.list: /),
    })
  })
})

test('the example of an agent in Python declares, waits for its person, pays and reports', async () => {
  const { client, env, shop } = await aBuyer(service)
  copyFileSync('examples/agents/agent.py', join(folder, 'agent.py'))
  await expectToPayAndReport(
    client,
    launch(join(folder, 'python/bin/python'), [join(folder, 'agent.py'), shop], env),
  )
})

const keySet = async () => (await service.http('GET', '/.well-known/jwks.json')).body

/** The verdicts of Python about these cases: what is proved, or the name of the exception. */
const verdictsOn = async (call: string, cases: readonly unknown[]): Promise<unknown[]> =>
  JSON.parse(
    await runProgram(
      `import json
from agentpay import *
def verdict(case):
    try:
        return ${call}
    except (SignatureRejected, WebhookRejected) as error:
        return [type(error).__name__, getattr(error, "position", None)]
print(json.dumps([verdict(case) for case in json.load(open("input.json"))]))
`,
      cases,
    ),
  )

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
    const expected = cases.map(([one, set]) => {
      try {
        return verifyApproval(one, set as never)
      } catch (error) {
        return [(error as Error).constructor.name, null]
      }
    })
    expect(expected[0]).toMatchObject({ intentId: intent.id, person: { name: 'Ada Lovelace' } })
    expect(await verdictsOn('verify_approval(*case)', cases)).toEqual(expected)
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

  test('of a webhook', async () => {
    const body =
      '{"event":"agent.frozen","createdAt":"2026-11-20T09:30:00.000Z","data":{"merchant":"Bäckerei 🥐"}}'
    const deliveryId = 'delivery_01jd8x2m4ye7k9v0c3q5r6t8wz-1.274877906944'
    const message = { deliveryId, eventId: 'event_1', event: 'agent.frozen', body, requestId: 'request-1' }
    const at = new Date()
    const now = at.getTime() / 1_000
    const headers = signedHeaders({ ...message, at }, { current: 'whsec_old', next: 'whsec_new' })
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
})

test('numbers are written in Python as in ECMAScript', async () => {
  const numbers = [
    0, 1, -1.5, 1e21, 1e20, 123456789012345680000, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, 0.1, 100,
  ]
  expect(
    await verdictsOn('__import__("agentpay._json", fromlist=["x"]).number_text(float(case))', numbers),
  ).toEqual(numbers.map(String))
})
