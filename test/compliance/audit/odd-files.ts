import { describe, expect, test } from '@jest/globals'
import { AuditRejected, verifyAudit } from '../../../src/derive/client.ts'
import { anExport } from '../../support/compliance/made-export.ts'
import { sealTrail } from '../../support/compliance/trail.ts'
import { aBeneficiary, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const keys = (await service.http('GET', '/.well-known/jwks.json')).body

/** An export as a file, with characters of more than one byte in UTF-8. */
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

const outcomeOf = (content: readonly (Uint8Array | string)[], set = keys) =>
  verifyAudit(content, { keys: set }).then(
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

describe('a line', () => {
  const made = anExport()
  const whole = made.lines.join('\n')
  const [first = '', line = ''] = made.lines
  const outcomeWith = (changed: string) => outcomeOf([whole.replace(line, () => changed)], made.keys)
  const twice = (member: string) => line.replace(member, `${member.replace(/:.*/, ':"x"')},${member}`)

  test('is proved as it was sealed', async () => expect(await outcomeWith(line)).toBe(7))

  test.each([
    ['a text that does not end', `{"n":1234567890123456789,"a":"${'\\a'.repeat(1_000_000)}`],
    ['a text of backslashes', `{"n":1234567890123456789,"a":"${'\\'.repeat(3_999_999)}`],
    ['a number of zeros', `{"type":"entry","position":1${'0'.repeat(2_000_000)}1}`],
    ['points and digits', `[${'1.'.repeat(1_000_000)}`],
    ['a cut end', line.slice(0, -40)],
  ])('of %s is rejected at once', async (_, odd) => {
    expect(await outcomeWith(odd)).toBeInstanceOf(AuditRejected)
    expect(await outcomeOf([first, '\n', odd], made.keys)).toBeInstanceOf(AuditRejected)
  })

  test.each([
    ['in which a member stands twice', twice('"position":0')],
    ['in which a member of its entry stands twice', twice('"outcome":"done"')],
    [
      'in which a member stands twice, once in escapes',
      line.replace('"outcome"', '"\\u006futcome":"x","outcome"'),
    ],
    ['in which an entry says another version', line.replace('"entry":{', '"entry":{"version":2,')],
    ['in which half of a character stands for one that was lost', line.replaceAll('Ada', '\\ud800')],
    ['whose position is no number', line.replace('"position":0', '"position":"0"')],
    ['whose salts are no object', line.replace(/"salts":\{[^}]*\}/, '"salts":7')],
    ['that is longer than lines are', line.replace('{', `{${' '.repeat(4_200_000)}`)],
    ['that is nested too deeply', line.replace('{', `{"a":${'['.repeat(101)}${']'.repeat(101)},`)],
  ])('%s is rejected', async (_, forged) => {
    expect(forged).not.toBe(line)
    expect(await outcomeWith(forged)).toMatchObject({ position: 0 })
  })

  test('of hashes stands where it says', async () => {
    const moved = whole.replace('"from":4,', '"from":3,')
    expect(await outcomeOf([moved], made.keys)).toMatchObject({ position: 4 })
  })
})
