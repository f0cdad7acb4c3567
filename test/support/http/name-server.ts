import { createSocket } from 'node:dgram'
import { promises as dns } from 'node:dns'
import { isIPv6 } from 'node:net'
import { afterAll } from '@jest/globals'
import { DEADLINE_MS } from '../until.ts'

/** The IPv4 and IPv6 addresses of each name; a function gets the number of the query, from 1. */
type Zone = Readonly<Record<string, readonly string[] | ((times: number) => readonly string[])>>

export interface NameServer {
  readonly resolver: dns.Resolver
  queryCount(name: string): number
}

const TYPES = { A: 1, AAAA: 28 }

export async function nameServer(zone: Zone): Promise<NameServer> {
  const queries = new Map<string, number>()
  const addressesOf = (name: string, type: number): readonly string[] | undefined => {
    const times = (queries.get(name) ?? 0) + (type === TYPES.A ? 1 : 0)
    queries.set(name, times)
    const entry = zone[name]
    const addresses = typeof entry === 'function' ? entry(times) : entry
    return addresses?.filter(address => isIPv6(address) === (type === TYPES.AAAA))
  }
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => socket.send(answer(query, addressesOf), port, address))
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  afterAll(() => void socket.close())
  const resolver = new dns.Resolver({ timeout: DEADLINE_MS, tries: 1 })
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  return { resolver, queryCount: name => queries.get(name) ?? 0 }
}

const HEADER_BYTES = 12
const NO_SUCH_NAME = 3

/** The answer to a query (RFC 1035): the question, then the answers. */
function answer(
  query: Buffer,
  addressesOf: (name: string, type: number) => readonly string[] | undefined,
): Buffer {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  const type = query.readUInt16BE(at + 1)
  const addresses = addressesOf(labels.join('.').toLowerCase(), type)
  const header = Buffer.alloc(HEADER_BYTES)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8180 | (addresses ? 0 : NO_SUCH_NAME), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(addresses?.length ?? 0, 6)
  const records = (addresses ?? []).map(address => recordOf(type, address))
  return Buffer.concat([header, query.subarray(HEADER_BYTES, at + 5), ...records])
}

function recordOf(type: number, address: string): Buffer {
  const data = isIPv6(address) ? bytesOf6(address) : Buffer.from(address.split('.').map(Number))
  const head = Buffer.alloc(12)
  // A pointer to the name of the question; its type; class IN; no time to live.
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function bytesOf6(address: string): Buffer {
  const [before = '', behind = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string) => text.split(':').filter(Boolean)
  const [left, right] = [groups(before), groups(behind)]
  const middle = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return Buffer.from([...left, ...middle, ...right].map(group => group.padStart(4, '0')).join(''), 'hex')
}
