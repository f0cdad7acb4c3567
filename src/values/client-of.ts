import { isIPv6 } from 'node:net'

export function clientAddressKey(address: string): string {
  if (!isIPv6(address)) return address
  const [start = '', end] = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname
    .slice(1, -1)
    .split('::')
  const [left, right] = [start, end ?? ''].map(part => part.split(':').filter(Boolean)) as [
    string[],
    string[],
  ]
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`
}
