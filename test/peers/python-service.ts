import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTestService } from '../support/harness.ts'
import { aPythonWithThePackage } from '../support/packages/python.ts'

/** The service of all Python package tests, and a Python with the package installed by pip. */
export const [service, { folder, python }] = await Promise.all([
  startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' } }),
  aPythonWithThePackage('wheel', 'mypy==1.18.2', 'standardwebhooks==1.1.0', 'mcp==2.3.0'),
])

export async function runProgram(text: string, input?: unknown): Promise<string> {
  writeFileSync(join(folder, 'program.py'), text)
  writeFileSync(join(folder, 'input.json'), JSON.stringify(input ?? null))
  const { key } = await service.owner()
  return python(['program.py'], { AGENTPAY_URL: service.url, AGENTPAY_KEY: key })
}

export const keySet = async () => (await service.http('GET', '/.well-known/jwks.json')).body

/** Python's verdicts about these cases: what is proved, or the name of the exception. */
export const verdictsOn = async (call: string, cases: readonly unknown[]): Promise<unknown[]> =>
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
