/** Merchant category codes from 6000 on: money, lodging, personal and business services, repair, leisure, professions, the state. */
export const serviceMccs = `
6010 Cash over the counter
6011 Cash from a machine
6012 Goods and services of banks
6050 Quasi-cash of banks
6051 Quasi-cash: foreign money, money orders, cryptocurrency
6211 Securities and brokers
6300 Insurance
6381 Insurance premiums
6399 Other insurance
6513 Estate agents and rents
6532 Payments by a bank
6533 Payments by a merchant
6536 Transfers between persons in a country
6537 Transfers between persons across countries
6538 Funding of transfers between persons
6540 Top-up of stored value
7011 Hotels and lodging without a code of their own
7012 Timeshares
7032 Holiday camps
7033 Camp sites
7210 Laundry and garment cleaning
7211 Launderettes
7216 Dry cleaners
7217 Carpet cleaning
7221 Photo studios
7230 Hairdressers and beauty parlours
7251 Shoe repair
7261 Funerals
7273 Dating and escorts
7276 Tax advice
7277 Counselling
7278 Shopping services and clubs
7295 Housekeeping and babysitting
7296 Clothes hire
7297 Massage
7298 Spas
7299 Other personal services
7311 Advertising
7321 Credit reporting
7322 Debt collection
7333 Commercial art, photography and graphics
7338 Copy shops
7339 Secretarial services
7342 Pest control
7349 Cleaning and caretaking
7361 Employment agencies
7372 Programming, data processing and online services
7375 Information retrieval
7379 Computer maintenance and repair
7392 Consulting and public relations
7393 Security services and detectives
7394 Hire of tools and equipment
7395 Photo laboratories
7399 Other business services
7511 Truck stops
7512 Car hire without a code of its own
7513 Truck and trailer hire
7519 Motor home hire
7523 Parking
7531 Car body repair
7534 Tyre repair
7535 Car painting
7538 Garages
7542 Car washes
7549 Towing
7622 Repair of electronics
7623 Repair of cooling
7629 Repair of appliances
7631 Repair of watches and jewellery
7641 Repair of furniture
7692 Welding
7699 Other repair
7800 Lotteries of the state, United States
7801 Online casinos with a licence, United States
7802 Horse and dog racing with a licence, United States
7829 Film production and distribution
7832 Cinemas
7841 Video hire
7911 Dance halls and schools
7922 Theatres and ticket agencies
7929 Bands and entertainers
7932 Billiards
7933 Bowling
7941 Sports clubs, fields and promoters
7991 Sights and exhibitions
7992 Golf courses
7993 Supplies of video games
7994 Game arcades
7995 Betting, casinos and lotteries
7996 Amusement parks and circuses
7997 Members’ clubs for sports and leisure
7998 Aquariums
7999 Other leisure
8011 Doctors
8021 Dentists
8031 Osteopaths
8041 Chiropractors
8042 Optometrists
8043 Opticians
8049 Podiatrists
8050 Nursing and care
8062 Hospitals
8071 Medical laboratories
8099 Other medical services
8111 Lawyers
8211 Schools
8220 Universities
8241 Distance learning
8244 Business schools
8249 Vocational schools
8299 Other education
8351 Child care
8398 Charities
8641 Associations
8651 Political organisations
8661 Religious organisations
8675 Automobile clubs
8699 Other membership organisations
8734 Testing laboratories
8911 Architects, engineers and surveyors
8931 Accountants and auditors
8999 Other professional services
9211 Court costs
9222 Fines
9223 Bail
9311 Taxes
9399 Other government services
9402 State post
9405 Purchases between authorities
9406 Lotteries of the state
9702 Emergency services of a card scheme
9950 Purchases within a company
`
