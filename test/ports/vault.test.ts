import { describe, expect, test } from '@jest/globals'
import { openVault } from '../../src/ports/vault.ts'

const KEY = '0f'.repeat(32)
const OTHER = Buffer.alloc(32, 7).toString('base64')
const vault = openVault(KEY)
const sealed = vault.seal('whsec_grüße', 'webhook-secret:a')

describe('a sealed text', () => {
  test('opens for the purpose that it was sealed for, and no other', () => {
    expect(vault.open(sealed, 'webhook-secret:a')).toBe('whsec_grüße')
    expect(() => vault.open(sealed, 'webhook-secret:b')).toThrow()
    expect(vault.open(vault.seal('', ''), '')).toBe('')
  })

  test('reveals nothing, not even that two texts are equal', () => {
    expect(sealed).not.toContain('whsec')
    expect(vault.seal('whsec_grüße', 'webhook-secret:a')).not.toBe(sealed)
  })

  test('does not open once any character has changed', () => {
    // The last character encodes bits that belong to no byte.
    for (let at = 0; at < sealed.length - 1; at++) {
      const other = sealed[at] === 'A' ? 'B' : 'A'
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1)
      expect(() => vault.open(changed, 'webhook-secret:a')).toThrow()
    }
    for (const part of ['', '.', sealed.slice(0, 9), sealed.slice(0, 20)])
      expect(() => vault.open(part, 'webhook-secret:a')).toThrow()
  })

  test('opens after its key was replaced, as long as the old key is listed', () => {
    const later = openVault(OTHER, [KEY])
    expect(later.open(sealed, 'webhook-secret:a')).toBe('whsec_grüße')
    const anew = later.seal('new', 'c')
    expect(openVault(OTHER).open(anew, 'c')).toBe('new')
    expect(() => vault.open(anew, 'c')).toThrow('neither ENCRYPTION_KEY nor one of the old')
    expect(() => openVault(OTHER).open(sealed, 'webhook-secret:a')).toThrow('neither ENCRYPTION_KEY')
  })

  test('opens with any encoding of its key', () => {
    const written = [
      KEY.toUpperCase(),
      Buffer.from(KEY, 'hex').toString('base64'),
      Buffer.from(KEY, 'hex').toString('base64url'),
    ]
    for (const key of written) expect(openVault(key).open(sealed, 'webhook-secret:a')).toBe('whsec_grüße')
  })
})

describe('a digest', () => {
  const [digest] = vault.digests('WDJBMJHT', 'codes')

  test('is the same in each process, and another one for another text or purpose', () => {
    expect(openVault(KEY).digests('WDJBMJHT', 'codes')).toEqual([digest])
    const others = [vault.digests('WDJBMJHS', 'codes'), vault.digests('WDJBMJHT', 'names')]
    expect(new Set([digest, ...others.flat()]).size).toBe(3)
  })

  test('cannot be made without the key, and is made of old keys too', () => {
    const [foreign] = openVault(OTHER).digests('WDJBMJHT', 'codes')
    expect(foreign).not.toBe(digest)
    expect(openVault(OTHER, [KEY]).digests('WDJBMJHT', 'codes')).toEqual([foreign, digest])
  })
})
