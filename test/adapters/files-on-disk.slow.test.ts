import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { filesOnDisk } from '../../src/adapters/files-on-disk/files-on-disk.ts'
import { writeSealed } from '../../src/adapters/files-on-disk/thread.ts'
import { syncFolder } from '../../src/adapters/files-on-disk/write.ts'
import { DamagedFileError } from '../../src/ports/files.ts'
import { openVault } from '../../src/ports/vault.ts'
import { temporaryFolder } from '../support/processes/folders.ts'

const KEY = '7e'.repeat(32)
const NEW_KEY = '8f'.repeat(32)
const PIECE = 1_048_576
const owner = { ownerId: 'owner_1', mode: 'test' }

let folder: string
let files: ReturnType<typeof filesOnDisk>
beforeEach(() => {
  folder = temporaryFolder()
  files = filesOnDisk(folder, openVault(KEY))
})

const content = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, at) => (at * 7) % 251)

async function read(sha256: string, of = owner, from = files): Promise<Uint8Array | undefined> {
  const opened = await from.open(of, sha256)
  const pieces: Uint8Array[] = []
  for await (const piece of opened?.content ?? []) pieces.push(piece)
  return opened && Buffer.concat(pieces)
}

const lying = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))

const onlyFile = (): string => lying()[0] ?? 'none'

const spoil = (change: (bytes: Buffer) => Buffer): void =>
  writeFileSync(onlyFile(), change(readFileSync(onlyFile())))

const flipped =
  (at: number) =>
  (bytes: Buffer): Buffer => {
    const place = at < 0 ? bytes.length + at : at
    bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place)
    return bytes
  }

/** The first format of sealed files, which must still open. */
function ofFirstShape(bytes: Uint8Array, sha256: string): Buffer {
  const secret = randomBytes(32)
  const sealed = openVault(KEY).seal(secret.toString('base64'), `file:owner_1/test/${sha256}`)
  const fixed = Buffer.alloc(12)
  fixed.write('APF1')
  fixed.writeUInt16BE(sealed.length, 4)
  fixed.writeUIntBE(bytes.length, 6, 6)
  const count = Math.ceil(bytes.length / PIECE)
  const pieces = Array.from({ length: count }, (_, index) => {
    const nonce = Buffer.alloc(12)
    nonce.writeUInt32BE(index)
    nonce.writeUInt8(index === count - 1 ? 1 : 0, 11)
    const cipher = createCipheriv('aes-256-gcm', secret, nonce).setAAD(fixed)
    const part = cipher.update(bytes.subarray(index * PIECE, (index + 1) * PIECE))
    return Buffer.concat([part, cipher.final(), cipher.getAuthTag()])
  })
  return Buffer.concat([fixed, Buffer.from(sealed), ...pieces])
}

describe('a file on disk', () => {
  test.each([1, 1_000, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7])(
    'of %i bytes comes back as it was',
    async size => {
      const { sha256, bytes } = await files.put(owner, content(size))
      expect([bytes, sha256]).toEqual([size, createHash('sha256').update(content(size)).digest('hex')])
      expect(Buffer.from(content(size)).equals((await read(sha256)) ?? Buffer.alloc(0))).toBe(true)
      expect((await files.open(owner, sha256))?.size).toBe(size)
    },
  )

  test('shows nothing of its content, and only its owner may open it', async () => {
    await files.put(owner, Buffer.from('the passport of Ada Lovelace'.repeat(100)))
    expect(readFileSync(onlyFile()).includes('Ada')).toBe(false)
    expect(readFileSync(onlyFile()).includes('passport')).toBe(false)
  })

  test('equal files of two owners are indistinguishable from different ones', async () => {
    const { sha256 } = await files.put(owner, content(5_000))
    await files.put({ ...owner, ownerId: 'owner_2' }, content(5_000))
    const [one, two] = lying().map(path => readFileSync(path))
    expect(one?.equals(two as Buffer)).toBe(false)
    expect(await read(sha256, { ...owner, mode: 'live' })).toBeUndefined()
  })

  test('opens with an old key, and with no other', async () => {
    const { sha256 } = await files.put(owner, content(100))
    const rotated = filesOnDisk(folder, openVault(NEW_KEY, [KEY]))
    expect(await read(sha256, owner, rotated)).toEqual(Buffer.from(content(100)))
    await expect(read(sha256, owner, filesOnDisk(folder, openVault(NEW_KEY)))).rejects.toThrow(
      DamagedFileError,
    )
  })

  test.each([
    ['its first byte is another', flipped(0)],
    ['its key is another', flipped(30)],
    ['its length is another', flipped(11)],
    ['a byte in its middle is another', flipped(PIECE)],
    ['its last byte is another', flipped(-1)],
    ['its end is missing', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['its last piece is missing', (bytes: Buffer) => bytes.subarray(0, -(7 + 16))],
    ['something follows it', (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(16)])],
    ['nothing of it is left', () => Buffer.alloc(0)],
    ['it is another file', () => Buffer.from('%PDF-1.4 a file that nobody has sealed'.repeat(50))],
  ])('is refused where %s', async (_, change) => {
    const { sha256 } = await files.put(owner, content(2 * PIECE + 7))
    spoil(change)
    await expect(read(sha256)).rejects.toThrow(DamagedFileError)
  })

  test('with two pieces exchanged is refused', async () => {
    const { sha256 } = await files.put(owner, content(3 * PIECE))
    spoil(bytes => {
      const begin = bytes.length - 3 * (PIECE + 16)
      const piece = (n: number) => bytes.subarray(begin + n * (PIECE + 16), begin + (n + 1) * (PIECE + 16))
      return Buffer.concat([bytes.subarray(0, begin), piece(1), piece(0), piece(2)])
    })
    await expect(read(sha256)).rejects.toThrow(DamagedFileError)
  })

  test.each([1, PIECE, 2 * PIECE + 7])('of the first shape, of %i bytes, is read as ever', async size => {
    const bytes = content(size)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    mkdirSync(join(folder, owner.ownerId, owner.mode), { recursive: true })
    const path = join(folder, owner.ownerId, owner.mode, sha256)
    writeFileSync(path, ofFirstShape(bytes, sha256))
    expect(Buffer.from(bytes).equals((await read(sha256)) ?? Buffer.alloc(0))).toBe(true)
    writeFileSync(path, flipped(-1)(readFileSync(path)))
    await expect(read(sha256)).rejects.toThrow(DamagedFileError)
  })

  test.each([1, 1_000, PIECE - 1, 2 * PIECE + 7])(
    'of %i bytes that arrives is the same as one that was whole, wherever it is cut',
    async size => {
      const bytes = content(size)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      for (const cuts of [[1], [PIECE], [PIECE - 1, PIECE + 1], [5, PIECE, 2 * PIECE, 2 * PIECE + 6]]) {
        const { sink, named } = files.staging(owner)
        const arriving = writeSealed(...(sink.args as Parameters<typeof writeSealed>))
        for (const [n, begin] of [0, ...cuts].entries()) await arriving.write(bytes.slice(begin, cuts[n]))
        await arriving.end(sha256)
        const { finish, file } = await named(sha256)
        await arriving.finish(...finish)
        await file.keep()
        expect(Buffer.from(bytes).equals((await read(sha256)) ?? Buffer.alloc(0))).toBe(true)
        expect(lying()).toHaveLength(1)
      }
    },
  )

  test('a dropped upload leaves nothing behind', async () => {
    for (const size of [0, 10, 3 * PIECE]) {
      const { sink } = files.staging(owner)
      const arriving = writeSealed(...(sink.args as Parameters<typeof writeSealed>))
      await arriving.write(content(size))
      await arriving.drop()
    }
    expect(lying()).toEqual([])
  })

  test('an upload that cannot be written fails at its end, and leaves nothing behind', async () => {
    writeFileSync(join(folder, '.staged'), '')
    const { sink } = files.staging(owner)
    const arriving = writeSealed(...(sink.args as Parameters<typeof writeSealed>))
    for (let n = 0; n < 4; n++) await arriving.write(content(PIECE))
    await expect(arriving.end('a'.repeat(64))).rejects.toThrow(/EEXIST|ENOTDIR/)
    await arriving.drop()
    expect(lying()).toEqual([join(folder, '.staged')])
  })

  test('put in the place of another owner’s is refused', async () => {
    const { sha256 } = await files.put(owner, content(100))
    const other = { ownerId: 'owner_2', mode: 'test' }
    await files.put(other, content(100))
    const [from, to] = [owner, other].map(({ ownerId }) => join(folder, ownerId, 'test', sha256))
    renameSync(from as string, to as string)
    await expect(read(sha256, other)).rejects.toThrow(DamagedFileError)
  })

  test('has no name until it is whole and kept', async () => {
    const { sha256 } = { sha256: createHash('sha256').update(content(100)).digest('hex') }
    const staged = await files.stage(owner, { sha256, bytes: content(100) })
    expect(await read(sha256)).toBeUndefined()
    await staged.keep()
    await staged.keep()
    await staged.drop()
    expect(await read(sha256)).toEqual(Buffer.from(content(100)))
    expect(lying()).toHaveLength(1)
  })

  test('is kept beside many others, and all of them open', async () => {
    const sizes = Array.from({ length: 40 }, (_, n) => 100 + n)
    const kept = await Promise.all(sizes.map(size => files.put(owner, content(size))))
    for (const [n, { sha256 }] of kept.entries())
      expect(await read(sha256)).toEqual(Buffer.from(content(sizes[n] ?? 0)))
    expect(lying()).toHaveLength(sizes.length)
  })

  test('a failed folder flush fails all waiting callers, and no later ones', async () => {
    const place = join(folder, 'a-folder')
    const refused = await Promise.allSettled(Array.from({ length: 10 }, () => syncFolder(place)))
    expect(refused.map(({ status }) => status)).toEqual(Array(10).fill('rejected'))
    mkdirSync(place)
    await Promise.all(Array.from({ length: 10 }, () => syncFolder(place)))
  })

  test('that is dropped leaves nothing', async () => {
    const sha256 = createHash('sha256').update(content(100)).digest('hex')
    await (await files.stage(owner, { sha256, bytes: content(100) })).drop()
    expect(lying()).toEqual([])
  })

  test('a file that cannot be written fails, and leaves nothing behind', async () => {
    rmSync(join(folder, '.staged'), { recursive: true, force: true })
    writeFileSync(join(folder, '.staged'), '')
    await expect(files.put(owner, content(100))).rejects.toThrow()
    expect(lying()).toEqual([join(folder, '.staged')])
  })

  test('is erased, and erasing what is not there does nothing', async () => {
    const { sha256 } = await files.put(owner, content(100))
    await files.erase(owner, sha256)
    await files.erase(owner, sha256)
    expect([await read(sha256), lying()]).toEqual([undefined, []])
  })

  test('is named by an owner, a mode and a digest, and nothing else', async () => {
    mkdirSync(join(folder, '..', 'other'), { recursive: true })
    const digest = 'a'.repeat(64)
    for (const ownerId of ['..', '../other', 'a/b', '', '.staged'])
      expect(() => files.open({ ...owner, ownerId }, digest)).toThrow('this names no file')
    for (const sha256 of ['../x', digest.slice(1), `${digest}/..`])
      expect(() => files.open(owner, sha256)).toThrow('this names no file')
    rmSync(join(dirname(folder), 'other'), { recursive: true })
  })
})
