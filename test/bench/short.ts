/** `BENCH_SHORT=1 npm run bench -- …` shows in seconds that a part runs; its figures mean nothing. */
export const isShort = process.env.BENCH_SHORT === '1'

export const usualOrShort = <T>(usual: T, short: T): T => (isShort ? short : usual)
