/** The library, with its global as the default export. */
export { default } from 'uplot'
