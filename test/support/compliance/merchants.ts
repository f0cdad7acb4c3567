export const APPLICATION = {
  name: 'Bookshop',
  legalName: 'Bookshop GmbH',
  country: 'DE',
  website: 'https://shop.example.com',
  mcc: '5942',
  contactName: 'Grace Hopper',
  contactEmail: 'grace@example.com',
}
