import { describe, expect, test } from '@jest/globals'
import { AuditRejected, verifyAudit } from '../../../src/derive/client.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { aBeneficiary, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()
const keys = (await service.http('GET', '/.well-known/jwks.json')).body

/** An export as a file, with what is more than one byte in UTF-8. */
const file = await (async () => {
  const { client, key } = await service.owner()
  for (let n = 0; n < 4; n++) await aBeneficiary(client, { name: `Bäckerei Müller 漢 ${n}` })
  await sealTrail(service)
  expect(await bodyOf(client.audit.verify())).toMatchObject({ ok: true })
  const answer = await fetch(`${service.url}/audit/export`, { headers: { authorization: `Bearer ${key}` } })
  return Buffer.from(await answer.arrayBuffer())
})()
const text = file.toString()
const all = text.split('\n').filter(line => line.includes('"type":"entry"')).length

const outcomeOf = (content: readonly (Uint8Array | string)[]) =>
  verifyAudit(content, { keys }).then(
    ({ entries }) => entries,
    (error: unknown) => error,
  )

describe('a file that was carried about', () => {
  test.each([
    ['as it is', [file]],
    ['with line ends of Windows', [text.replaceAll('\n', '\r\n')]],
    ['with a byte order mark', [Buffer.from('\uFEFF'), file]],
    ['with empty lines', [text.replaceAll('\n', '\n\n')]],
    ['without its last line end', [file.subarray(0, -1)]],
  ])('verifies %s', async (_, content) => {
    expect(await outcomeOf(content)).toBe(all)
  })

  test.each([
    ['empty', ['']],
    ['of nothing but a line end', ['\n']],
    ['of zeros', [Buffer.alloc(1_000)]],
    ['in UTF-16', [Buffer.from(text, 'utf16le')]],
    ['in Latin-1', [Buffer.from(text, 'latin1')]],
    ['twice in one', [file, file]],
    ['with something behind it', [file, 'and more\n']],
    ['that is one long line', [Array.from({ length: 5 }, () => 'a'.repeat(1_048_576)).join('')]],
    ['with a long line in it', [file, ...Array.from({ length: 5 }, () => 'a'.repeat(1_048_576))]],
    ['with brackets without end', [text.split('\n')[0] ?? '', '\n', '['.repeat(2_000_000), '\n']],
  ])('is rejected %s', async (_, content) => {
    expect(await outcomeOf(content)).toBeInstanceOf(AuditRejected)
  })

  test('is rejected wherever it was cut, but behind its last entry', async () => {
    const lastEntry = file.lastIndexOf('{"type":"checkpoint"')
    for (let cut = 0; cut < file.length; cut += 61) {
      const outcome = await outcomeOf([file.subarray(0, cut)])
      expect([cut, outcome instanceof AuditRejected || (cut >= lastEntry - 1 && outcome === all)]).toEqual([
        cut,
        true,
      ])
    }
    expect(await outcomeOf([file.subarray(0, lastEntry)])).toBe(all)
  })
})
