pub fn torn( {
    let = ;
