const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export function formatBytes(bytes: bigint): string {
  const unit = UNITS.findLastIndex((_, power) => power === 0 || bytes >= 1024n ** BigInt(power))
  return unit === 0 ? `${bytes} bytes` : `${(Number(bytes) / 1024 ** unit).toFixed(1)} ${UNITS[unit]}`
}
