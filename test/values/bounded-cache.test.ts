import { expect, test } from '@jest/globals'
import { SharedCache } from '../../src/values/bounded-cache.ts'

const keptIn = (cache: SharedCache<string>, keys: readonly string[]) =>
  keys.filter(key => cache.get(key) !== undefined)

test('an owner who adds many values to a shared cache displaces only its own, the least recently used first', () => {
  const cache = new SharedCache<string>({ most: 10, mostOfOne: 3 })
  cache.set('of another', 'x', 'other')
  for (const key of ['a', 'b', 'c']) cache.set(key, key, 'one')
  expect(cache.get('a')).toBe('a')
  for (const key of ['d', 'e']) cache.set(key, key, 'one')
  expect(keptIn(cache, ['of another', 'a', 'b', 'c', 'd', 'e'])).toEqual(['of another', 'a', 'd', 'e'])
})

test('a full shared cache forgets the least recently used value', () => {
  const cache = new SharedCache<string>({ most: 3, mostOfOne: 2 })
  for (const key of ['a', 'b', 'c']) cache.set(key, key, `owner of ${key}`)
  expect(cache.get('a')).toBe('a')
  cache.set('d', 'd', 'owner of d')
  expect(keptIn(cache, ['a', 'b', 'c', 'd'])).toEqual(['a', 'c', 'd'])
})

test('a value that replaces another one takes no more room, and deleting the older one leaves it', () => {
  const cache = new SharedCache<string>({ most: 2, mostOfOne: 2 })
  for (const value of ['first', 'second']) cache.set('a', value, 'one')
  cache.set('b', 'b', 'one')
  cache.delete('a', 'first')
  expect(cache.get('a')).toBe('second')
  cache.delete('a', 'second')
  expect(keptIn(cache, ['a', 'b'])).toEqual(['b'])
})
