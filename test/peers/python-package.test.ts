import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { mppxToolMerchant } from '../support/commerce/peer-merchants.ts'
import { anIntent } from '../support/factories.ts'
import { aBuyer, expectToPayAndReport } from '../support/packages/buyer.ts'
import { launch } from '../support/processes/launched.ts'
import './python-proofs.ts'
import { folder, python, runProgram, service, verdictsOn } from './python-service.ts'

const readme = readFileSync('src/packages/python/README.md', 'utf8')
const flow = /<!-- flow -->\n```python\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''

const told = {
  small: { status: 'approved', decidedBy: { type: 'policy' } },
  approved: { status: 'approved', comment: 'Go ahead' },
  refused: 'invalid_run',
  balance: { availableEuros: 25.5, heldEuros: 9.5 },
  proof: { ok: true, problems: [] },
}

/** The flow for the async client: each call is awaited, each list iterated as it arrives. */
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

  test('runs what the tutorial of the first payment shows', async () => {
    const page = readFileSync('docs/tutorials/first-payment.md', 'utf8')
    const shown = /```python\n(from agentpay[\s\S]*?)```/.exec(page)?.[1] ?? ''
    expect(await runProgram(shown)).toBe('approved 2.5 localhost\n')
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
from agentpay import AgentPay, AsyncAgentPay, NoAnswer, Refused
pay = AgentPay()
agent = pay.agents.create({"name": "Reader"})
stream = pay.events.stream({"event": "agent.frozen"}, headers={"Last-Event-ID": pay.events.list().page().data[0]["id"]})
pay.agents.freeze(agent["id"], {"reason": "Unusual"}, idempotency_key="freeze-1")
pay.agents.freeze(agent["id"], {"reason": "Unusual"}, idempotency_key="freeze-1")
frozen = [event["data"]["agentId"] for event in itertools.islice(stream, 1)]
try:
    pay.agents.get("agent_of_nobody")
except Refused as error:
    refused = [error.operation, error.status, error.code, error.request_id is not None]
try:
    pay.agents.create({"name": "Reader"}, idempotency_key="")
    raise SystemExit("an empty idempotency key is taken")
except Refused as error:
    assert "Idempotency-Key" in str(error)
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
for Client in (AgentPay, AsyncAgentPay):
    try:
        Client(token=agent.get("token"))
        raise SystemExit("a token that was not shown is taken")
    except TypeError as error:
        assert "The token is None" in str(error)
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

test('a call of the package says what it takes, and sends nothing', async () => {
  const program = `import asyncio, json
from agentpay import AgentPay, AsyncAgentPay
pay, later = AgentPay("http://127.0.0.1:1", retries=0), AsyncAgentPay("http://127.0.0.1:1", retries=0)
refusals = []
for call in (
    lambda: pay.sandbox.ship_card("card_1"),
    lambda: asyncio.run(later.sandbox.ship_card("card_1")),
    lambda: pay.cards.fund("card_1", "wallet_1"),
    lambda: pay.agents.freeze("agent_1", "Unusual"),
    lambda: pay.intents.list("agent_1").page(),
    lambda: pay.intents.list(agent_id="agent_1").page(),
    lambda: next(pay.events.stream(agent_id="agent_1")),
    lambda: pay.cards.get({"cardId": "card_1"}),
    lambda: pay.agents.create({"name": "Reader"}, wait=False),
    lambda: pay.customers.me(limit=1),
    lambda: pay.mpp.list("").page(),
    lambda: pay.agents.get("agent_1", retries="3"),
    lambda: pay.agents.get("agent_1", timeout=0),
    lambda: pay.mpp.pay({}, wait="no"),
    lambda: pay.intents.wait("intent_1", within=0, retries=3),
    lambda: asyncio.run(later.intents.wait("intent_1", within=0, idempotency_key="a")),
    lambda: AgentPay("sk_test_1"),
    lambda: AsyncAgentPay("sk_test_1", "http://127.0.0.1:1"),
    lambda: AgentPay("http://127.0.0.1:1", ""),
    lambda: AgentPay("http://127.0.0.1:1", "sk_test_1", timeout="5"),
):
    try:
        call()
        refusals.append("sent")
    except TypeError as error:
        refusals.append(str(error))
print(json.dumps(refusals))
`
  expect(JSON.parse(await runProgram(program))).toEqual([
    'pay.sandbox.ship_card takes one dict: put cardId into it: pay.sandbox.ship_card({"cardId": "card_…"})',
    'pay.sandbox.ship_card takes one dict: put cardId into it: pay.sandbox.ship_card({"cardId": "card_…"})',
    'pay.cards.fund takes one dict after id: put fromWalletId into it: pay.cards.fund(id, {"fromWalletId": "wallet_…"})',
    'pay.agents.freeze takes one dict after id: put its members into it: pay.agents.freeze(id, {…})',
    'pay.intents.list takes one dict: put agentId into it: pay.intents.list({"agentId": "agent_…"})',
    'pay.intents.list takes one dict of members: put agentId into it: pay.intents.list({"agentId": …})',
    'pay.events.stream takes one dict of members: put agentId into it: pay.events.stream({"agentId": …})',
    'pay.cards.get takes id first, as text: pay.cards.get(id)',
    'pay.agents.create always waits for its outcome: leave out wait',
    expect.stringMatching(/^pay\.customers\.me has no option limit, but .*idempotency_key/),
    'pay.mpp.list takes one dict: put its members into it: pay.mpp.list({…})',
    'pay.agents.get: retries is a whole number, from 0 on',
    'pay.agents.get: timeout is a number of seconds, above 0',
    'wait is True or False: another value would wait',
    'pay.intents.wait has no option retries, but within, run_id, headers, timeout',
    'pay.intents.wait has no option idempotency_key, but within, run_id, headers, timeout',
    'AgentPay takes url first, such as https://pay.example.com: write token=… for a key',
    'AgentPay takes url first, such as https://pay.example.com: write token=… for a key',
    'AgentPay: token is a key or a token',
    'AgentPay: timeout is a number of seconds, above 0',
  ])
})

test('a refusal names the challenge that a passkey must sign', async () => {
  const program = `import httpx, json
from agentpay import AgentPay, Refused
def answer(request):
    link = {"link": '</passkeys/challenges/challenge_1>; rel="challenge"'} if "freeze" in str(request.url) else {}
    return httpx.Response(400, json={"error": "Sign it."}, headers={"x-error-code": "assertion_required", **link})
pay = AgentPay("https://pay.example", "a", http_client=httpx.Client(transport=httpx.MockTransport(answer)))
named = []
for call in (lambda: pay.agents.freeze("agent_1"), lambda: pay.agents.get("agent_1")):
    try:
        call()
    except Refused as refused:
        named.append(refused.challenge_id)
print(json.dumps(named))
`
  expect(JSON.parse(await runProgram(program))).toEqual(['challenge_1', null])
})

test.each([
  ['sync', 'httpx.Client', 'AgentPay', ''],
  ['async', 'httpx.AsyncClient', 'AsyncAgentPay', 'await '],
])('a wait of the %s client ends with its time where the service never answers', async (...kind) => {
  const [, transport, client, awaits] = kind
  const program = `import asyncio, json, time, httpx
from agentpay import AgentPay, AsyncAgentPay, NoAnswer
clock, attempts, left = [0.0], [], ["unavailable", "silent", "silent"]
def elapse(seconds):
    clock[0] += seconds
async def elapse_async(seconds):
    elapse(seconds)
time.monotonic, time.sleep, asyncio.sleep = lambda: clock[0], elapse, elapse_async
def answer(request):
    if (left.pop(0) if left else "silent") == "unavailable":
        return httpx.Response(503, json={"error": "Later."}, headers={"x-error-code": "unavailable", "retry-after": "30"})
    attempts.append(request.extensions["timeout"]["read"])
    elapse(attempts[-1])
    raise httpx.ReadTimeout("no answer")
async def main() -> None:
    client = ${transport}(transport=httpx.MockTransport(answer))
    pay = ${client}("https://pay.example", "a", http_client=client, timeout=7)
    try:
        ${awaits}pay.intents.wait("intent_1", within=12)
    except NoAnswer:
        print(json.dumps([attempts, clock[0]]))
main_of = main()
try:
    main_of.send(None)
except StopIteration:
    pass
`
  expect(JSON.parse(await runProgram(program))).toEqual([[7, 3.5, 1], 13])
})

test('the example of an agent in Python declares, waits for its person, pays and reports', async () => {
  const { client, env, shop } = await aBuyer(service)
  copyFileSync('examples/agents/agent.py', join(folder, 'agent.py'))
  await expectToPayAndReport(
    client,
    launch(join(folder, 'python/bin/python'), [join(folder, 'agent.py'), shop], env),
  )
})

test.each(['sync', 'async'])('a request is paid on the way by fetch of the %s client', async kind => {
  const { client, agent, env, shop } = await aBuyer(service)
  const intent = await anIntent(client, agent.id, { merchant: '127.0.0.1', amountEuros: 2 })
  const call = `pay.fetch("${shop}?amountEuros=2", intent_id="${intent.id}")`
  const program = `import asyncio, json
from agentpay import AgentPay, AsyncAgentPay, Refused
async def main() -> None:
    pay = ${kind === 'sync' ? 'AgentPay()' : 'AsyncAgentPay()'}
    answer = ${kind === 'sync' ? call : `await ${call}`}
    try:
        ${kind === 'sync' ? call : `await ${call}`}
        again = "paid twice"
    except Refused as refused:
        again = refused.code
    asked = answer.request.headers["accept-payment"]
    print(json.dumps([answer.status_code, asked, "payment-receipt" in answer.headers, answer.json()["content"], again]))
asyncio.run(main())
`
  writeFileSync(join(folder, 'buying.py'), program)
  expect(await python(['-m', 'mypy', '--strict', '--python-version', '3.10', 'buying.py'])).toContain(
    'Success',
  )
  expect(JSON.parse(await python(['buying.py'], env))).toEqual([
    200,
    'card/charge, stripe/charge',
    true,
    'What you have paid for.',
    'intent_not_approved',
  ])
})

test('a tool of a merchant made with mppx is paid once through the protocol’s own client', async () => {
  const { client, agent, env } = await aBuyer(service)
  const intent = await anIntent(client, agent.id, { merchant: '127.0.0.1', amountEuros: 2 })
  const merchant = await mppxToolMerchant('200')
  const program = `import asyncio, json
from agentpay import AsyncAgentPay, Refused
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
async def main() -> None:
    pay = AsyncAgentPay()
    async with streamable_http_client("${merchant.url}") as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        paid = await pay.call_tool(session, "report", intent_id="${intent.id}", url="${merchant.url}")
        try:
            await pay.call_tool(session, "report", intent_id="${intent.id}", url="${merchant.url}")
            again = "paid twice"
        except Refused as refused:
            again = str(refused.code)
        print(json.dumps([paid.model_dump(mode="json", by_alias=True)["content"][0]["text"], again]))
asyncio.run(main())
`
  writeFileSync(join(folder, 'tool.py'), program)
  expect(await python(['-m', 'mypy', '--strict', '--python-version', '3.10', 'tool.py'])).toContain('Success')
  expect(JSON.parse(await python(['tool.py'], env))).toEqual(['{"report":42}', 'intent_being_paid'])
  expect(merchant.charged).toHaveLength(1)
})

test('numbers are written in Python as in ECMAScript', async () => {
  const numbers = [
    0, 1, -1.5, 1e21, 1e20, 123456789012345680000, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, 0.1, 100,
  ]
  expect(
    await verdictsOn('__import__("agentpay._json", fromlist=["x"]).number_text(float(case))', numbers),
  ).toEqual(numbers.map(String))
})
