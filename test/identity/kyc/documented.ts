import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { magicNamePrefixes } from '../../../src/adapters/identity-verification/sandbox.ts'
import { kycApi } from '../../../src/identity/kyc/api.ts'
import type { AnyOperation } from '../../../src/kernel/contract/operation.ts'
import { identityDocumentKinds } from '../../../src/ports/identity-verification.ts'
import { anIndividual } from '../../support/identity/kyc.ts'
import { service } from './kyc-service.ts'

const page = readFileSync('docs/how-to/identity.md', 'utf8')
const run = promisify(execFile)

describe('the page about identity', () => {
  test('has a flow that works as it is pasted', async () => {
    const flow = /<!-- identity -->\n```bash\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    const { key: KEY } = await anIndividual(service)
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', flow], {
      env: { PATH, KEY, URL: service.url },
    })
    const answers = stdout
      .replaceAll('}{', '}\n{')
      .split('\n')
      .map(line => JSON.parse(line))
    expect(answers).toMatchObject([
      { status: 'pending', documents: [{ kind: 'passport' }] },
      { data: [{ name: 'Ada Lovelace' }] },
      { kycStatus: 'pending', canMakeLiveKeys: false },
    ])
  })

  test('explains each refusal of the operations, and none that does not exist', () => {
    const table = page.slice(page.indexOf('### Refusals of a submission'), page.indexOf('### Documents:'))
    const explained = [...table.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)].flatMap(([, codes = '']) =>
      codes.replaceAll('`', '').split(', '),
    )
    const codes = Object.values(kycApi).flatMap(({ fails = {} }: AnyOperation) => Object.keys(fails))
    expect(new Set(explained)).toEqual(new Set(codes.filter(code => code !== 'submission_not_found')))
  })

  test('explains each of the sandbox’s magic names, and each kind of document', () => {
    expect(magicNamePrefixes.length).toBeGreaterThan(10)
    expect(magicNamePrefixes.filter(word => !page.includes(`| \`${word} …\` |`))).toEqual([])
    expect(identityDocumentKinds.filter(kind => !page.includes(`\`${kind}\``))).toEqual([])
  })
})
