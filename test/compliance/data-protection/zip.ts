import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { zipStream } from '../../../src/values/zip.ts'
import { until } from '../../support/until.ts'
import { unzipped } from './unzip.ts'

async function* pieces(content: readonly Uint8Array[]) {
  yield* content
}

async function* entries(files: Readonly<Record<string, readonly Uint8Array[]>>) {
  for (const [name, content] of Object.entries(files)) yield { name, content: pieces(content) }
}

const AT = new Date('2026-11-22T10:20:30Z')

describe('a ZIP archive', () => {
  test('holds each file as it was, under its name, whatever the name and the content', async () => {
    const files = {
      'empty.txt': [],
      'Straße/日本.json': [Buffer.from('{"a":'), Buffer.from('1}')],
      'random.bin': [randomBytes(300_000), randomBytes(1)],
    }
    const all: Uint8Array[] = []
    for await (const piece of zipStream(entries(files), AT)) all.push(piece)
    const found = unzipped(Buffer.concat(all))
    expect([...found.keys()]).toEqual(Object.keys(files))
    for (const [name, content] of Object.entries(files))
      expect(found.get(name)?.equals(Buffer.concat(content))).toBe(true)
  })

  test('takes no more of a large file than has been sent on', async () => {
    let made = 0
    const endless = async function* () {
      for (;;) {
        made += 65_536
        yield randomBytes(65_536)
      }
    }
    const one = async function* () {
      yield { name: 'endless.bin', content: endless() }
    }
    const archive = zipStream(one(), AT)
    let sent = 0
    while (sent < 3_000_000) sent += (await archive.next()).value.length
    await archive.return(undefined)
    const ended = made
    expect(made - sent).toBeLessThan(2_000_000)
    await new Promise(resolve => setImmediate(resolve))
    expect(made).toBe(ended)
  })

  test('closes the open file if the reader leaves, and opens no other', async () => {
    const closed: string[] = []
    async function* endless(name: string) {
      try {
        for (;;) yield randomBytes(65_536)
      } finally {
        closed.push(name)
      }
    }
    async function* two() {
      for (const name of ['a', 'b']) yield { name, content: endless(name) }
    }
    const archive = zipStream(two(), AT)
    while ((await archive.next()).value.length < 1_000);
    await archive.return(undefined)
    await until('the file is closed', async () => closed.length > 0)
    expect(closed).toEqual(['a'])
  })

  test('fails where a file cannot be read to its end', async () => {
    const broken = async function* () {
      yield { name: 'broken.txt', content: halfway() }
    }
    const halfway = async function* () {
      yield Buffer.from('half')
      throw new Error('the disk is gone')
    }
    const read = async () => {
      for await (const _ of zipStream(broken(), AT));
    }
    await expect(read()).rejects.toThrow('the disk is gone')
  })
})
