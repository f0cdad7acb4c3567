import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stepsFor } from '../../../src/derive/quickstart/steps.ts'
import { startTestService } from '../../support/harness.ts'
import { aPythonWithThePackage } from '../../support/packages/python.ts'

/** A service, and a Python with the package that calls it: for all parts of the file. */
export const [service, { folder, python }] = await Promise.all([
  startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' } }),
  aPythonWithThePackage('mypy==1.18.2'),
])

export const quickstart = stepsFor(service.url)
  .slice(0, -1)
  .map(({ python }) => python)
  .join('\n')

export async function runProgram(text: string, input?: unknown): Promise<string> {
  writeFileSync(join(folder, 'program.py'), text)
  writeFileSync(join(folder, 'input.json'), JSON.stringify(input ?? null))
  const { key } = await service.owner()
  return python(['program.py'], { AGENTPAY_URL: service.url, AGENTPAY_KEY: key })
}
