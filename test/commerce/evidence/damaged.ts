import { hash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { aPayer, filesOf, kept, PNG, save, service } from './service.ts'

async function aFile() {
  const payer = await aPayer()
  const { id } = await kept(payer.client, payer.intent.id, { file: PNG, type: 'screenshot' })
  const sha256 = hash('sha256', Buffer.from(PNG, 'base64'), 'hex')
  const path = String(filesOf(payer.ownerId).find(one => one.endsWith(sha256)))
  return { ...payer, path, read: () => save(payer.key, `/evidence/${id}/file`) }
}

const filesLost = async (): Promise<number> => {
  const headers = { 'x-dashboard-secret': service.dashboardSecret }
  const { text } = await service.http('GET', '/metrics', { headers })
  return Number(/^files_lost (\d+)/m.exec(text)?.[1])
}

describe('a file in the store', () => {
  test('evidence with a flipped bit is refused and raises an alarm', async () => {
    const { path, read } = await aFile()
    const whole = readFileSync(path)
    const before = await filesLost()
    // The head, the sealed key, the content and the last tag.
    const places = [0, 20, whole.length - 30, whole.length - 1]
    for (const at of places) {
      const damaged = Buffer.from(whole)
      damaged.writeUInt8((whole[at] ?? 0) ^ 1, at)
      writeFileSync(path, damaged)
      const answer = await read()
      expect([answer.status, answer.headers.get('x-error-code')]).toEqual([503, 'file_corrupt'])
      expect(await answer.text()).toContain('alarmed')
    }
    expect(await filesLost()).toBe(before + places.length)
    writeFileSync(path, whole)
    expect((await read()).status).toBe(200)
  })

  test('that is gone is a 503 of its own, with an alarm', async () => {
    const { path, read } = await aFile()
    const before = await filesLost()
    rmSync(path)
    const answer = await read()
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([503, 'file_away'])
    expect(await filesLost()).toBe(before + 1)
  })

  test('lies once for its owner, and each owner has one of their own', async () => {
    const [first, second] = [await aFile(), await aFile()]
    const again = await kept(first.client, first.intent.id, { file: PNG })
    // The original and its re-encoded picture.
    expect(filesOf(first.ownerId)).toHaveLength(2)
    expect(filesOf(second.ownerId)).toHaveLength(2)
    expect(readFileSync(second.path)).not.toEqual(readFileSync(first.path))
    rmSync(second.path)
    expect((await second.read()).status).toBe(503)
    expect((await save(first.key, `/evidence/${again.id}/file`)).status).toBe(200)
  })
})
